// How well one labelling agrees with another. Labels are any integers; only equality matters.
// Each function throws InvalidArgument when the two label lists differ in length.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace kindred {

using Labels = std::span<const std::int32_t>;

/// 2 I(C,L) / (H(C) + H(L)); 1 when both put everything in one cluster (also when empty).
double normalized_mutual_information(Labels predicted, Labels truth);

/// (I(C,L) - E) / ((H(C) + H(L)) / 2 - E), where E is the I(C,L) to expect of labels dealt out at
/// random to clusters of the same sizes: 1 for identical partitions, about 0 for unrelated ones.
double adjusted_mutual_information(Labels predicted, Labels truth);

/// The NMI to expect of such labels: above 0, and far above where there are few items in a cluster.
double chance_nmi(Labels predicted, Labels truth);

/// Adjusted Rand index; 1 for identical partitions, about 0 for unrelated ones.
double adjusted_rand_index(Labels predicted, Labels truth);

/// Share of items whose cluster, under the best one-to-one matching of clusters to true labels,
/// is their true label; 1 when empty.
double matched_accuracy(Labels predicted, Labels truth);

/// The true labels as that matching calls them, [items]: the cluster each is matched to, or -1.
std::vector<std::int32_t> matched_truth(Labels predicted, Labels truth);

/// Share of items whose true label is the most common one of their cluster; 1 when empty.
double purity(Labels predicted, Labels truth);

/// 1 - H(L|C) / H(L): each cluster holds one true label only. 1 when H(L) = 0.
double homogeneity(Labels predicted, Labels truth);

/// 1 - H(C|L) / H(C): each true label lies in one cluster only. 1 when H(C) = 0.
double completeness(Labels predicted, Labels truth);

/// All of the above at once.
struct ClusteringScores {
  double nmi, ari, accuracy, purity, homogeneity, completeness, ami, chance_nmi;
};
ClusteringScores score_clustering(Labels predicted, Labels truth);

}  // namespace kindred

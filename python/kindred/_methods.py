"""The estimators, one per method. Made by `python -m kindred._generate`: do not edit."""
from __future__ import annotations

import os
from typing import Any, ClassVar

from kindred._base import Estimator
from kindred._fit import ProgressCallback


class PolicySearch(Estimator):
    """Find the policies and their number by conflicts and held-out score.

    Parameters
    ----------
    n_clusters : int | None, default None
        How many policies to find; auto: find out how many there are.
    k_max : int, default 12
        Where k is auto, look for so many policies, and further while more predict better.
    restarts : int, default 32
        Random starts of the search.
    random_state : Any, default None
        Every random number follows from this seed.
    random_features : int, default 100
        Random Fourier features of the observation that policies are linear in, besides its numbers;
        unused where policies are tables.
    l2 : float, default 10.0
        L2 penalty of each policy's weights.
    constraints : str, default ''
        CSV file of what is known of some episodes: columns episode and label, or episode, other and
        link ('together' or 'apart').
    n_jobs : int | None, default None
        Threads to use; None: every core.
    device : str, default 'cpu'
        'cpu' or 'cuda'.
    run : str | os.PathLike[str] | None, default None
        Where to keep the run folder; None: for as long as the model lives.
    resume : bool, default False
        Go on with what an interrupted fit left in `run`.
    force : bool, default False
        Replace a finished run in `run`.
    progress : bool | ProgressCallback, default False
        True: a tqdm bar; or a function of (stage, round, rounds, share).
    communicator : Any, default None
        Processes to share fits with, each of which makes the same calls: 'torch' or a group of
        torch.distributed's; 'env', what torchrun, srun or mpirun started; or kindred.Ranks. None:
        this one alone.
    """

    _method = "policy-search"
    _options: ClassVar[dict[str, str]] = {
        "n_clusters": "k",
        "k_max": "k-max",
        "restarts": "restarts",
        "random_state": "seed",
        "random_features": "random-features",
        "l2": "l2",
        "constraints": "constraints",
    }
    preset = None

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        k_max: int = 12,
        restarts: int = 32,
        random_state: Any = None,
        random_features: int = 100,
        l2: float = 10.0,
        constraints: str = '',
        n_jobs: int | None = None,
        device: str = 'cpu',
        run: str | os.PathLike[str] | None = None,
        resume: bool = False,
        force: bool = False,
        progress: bool | ProgressCallback = False,
        communicator: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.k_max = k_max
        self.restarts = restarts
        self.random_state = random_state
        self.random_features = random_features
        self.l2 = l2
        self.constraints = constraints
        self.n_jobs = n_jobs
        self.device = device
        self.run = run
        self.resume = resume
        self.force = force
        self.progress = progress
        self.communicator = communicator


class PGKMeans(Estimator):
    """Clone a policy per cluster, regroup by likelihood, repeat.

    Parameters
    ----------
    n_clusters : int | None, default None
        How many policies to fit; auto: find out how many there are.
    merge_to : int, default 0
        Merge the k clusters down to this many at the end; 0 keeps all of them.
    k_max : int, default 12
        The most policies to look for where k is auto.
    restarts : int, default 0
        Independent random starts, of which the best is taken; 0: 32 where the held-out score
        chooses, 4 where networks go on from it, else 5.
    random_state : Any, default None
        Every random number follows from this seed.
    policy : str, default 'auto'
        Policy behind a cluster: in closed form on features of observations, a neural network, or
        action frequencies per observation (discrete actions, repeating observations). auto: tabular
        where that is possible, mlp where observations are wide planes of zeros and ones or the
        objective chooses, else features.
    choose : str, default 'auto'
        By what the answer is chosen: how well policies predict episodes they have not seen, or the
        paper's objective J, for which k must be given. auto: held-out, but objective for policy mlp
        and where observations are as wide as pictures, unless these are planes of zeros and ones.
    init : str, default 'random'
        First labels: a random equal partition, or k-means on each episode's linear picture of its
        policy (continuous actions).
    max_rounds : int, default 30
        Stop fitting after this many rounds.
    change_tolerance : float, default 0.001
        Converged when at most this share of labels changes in a round.
    common_share : float | str, default 'auto'
        Policy mlp: share of one policy cloned from all trajectories in every policy that scores
        them, so that no step can say too much against one. auto: 0.05, but off where log-prob-floor
        is given.
    log_prob_floor : float | str, default 'auto'
        Least log-probability one step can contribute when trajectories are scored. It depends on
        how many numbers an action has. auto: off where common-share is on, else -5.
    empty_cluster : str, default 'drop'
        A cluster empty for two rounds is given up, or refilled with the worst-explained
        trajectories.
    merge_rule : str, default 'least-loss'
        Which pair to merge: the one that lowers the objective least, or the paper's printed rule.
    refine : bool, default True
        After merging, train new policies on the clusters and go on until labels settle again.
    standardize : str, default 'auto'
        Scale observations by the dataset's mean and deviation; auto leaves observations of zeros
        and ones (gridworlds) as they are.
    standardize_actions : bool, default True
        Scale continuous actions by the dataset's mean and deviation; policies still act in the
        data's own units.
    hidden : int, default 128
        Width of the policy's hidden layers.
    hidden_layers : int, default 2
        Number of the policy's hidden layers.
    learning_rate : float, default 0.001
        Adam's learning rate.
    max_gradient_norm : float, default 0.5
        Gradient norm of one policy is clipped to this.
    max_steps : int, default 1000
        Most training steps in one round.
    plateau_steps : int, default 30
        Training steps over which the loss is averaged to notice a plateau.
    plateau_tolerance : float, default 0.001
        A round's training ends when the loss per step improves by less than this.
    batch_steps : int, default 512
        Steps of its own trajectories each policy sees in one training step; unused where counts
        give the exact gradient.
    batch_trajectories : int, default 0
        Draw whole trajectories, this many, instead of single steps; 0: single steps.
    buffer_steps : int, default 0
        Draw from about so many steps at a time, blocks of neighbouring episodes in random order; 0:
        from all, or, where --memory has no room for them, from what a quarter of it holds.
    smoothing : float, default 0.0
        Tabular policies: added to every action's count in observations a cluster has seen.
    cosines : int, default 60
        Features: random cosines of the observation by which answers are judged; 0: none.
    ridge : float, default 10.0
        Features: steps of doing nothing that every policy has seen besides its own.
    separation : float, default 0.0
        Of version 0.1; read no more.
    seeds : str, default ''
        CSV file of what is known of some episodes: columns episode and label, or episode, other and
        link ('together' or 'apart').
    preset : str | None, default None
        'paper': the paper's setting.
    n_jobs : int | None, default None
        Threads to use; None: every core.
    device : str, default 'cpu'
        'cpu' or 'cuda'.
    run : str | os.PathLike[str] | None, default None
        Where to keep the run folder; None: for as long as the model lives.
    resume : bool, default False
        Go on with what an interrupted fit left in `run`.
    force : bool, default False
        Replace a finished run in `run`.
    progress : bool | ProgressCallback, default False
        True: a tqdm bar; or a function of (stage, round, rounds, share).
    communicator : Any, default None
        Processes to share fits with, each of which makes the same calls: 'torch' or a group of
        torch.distributed's; 'env', what torchrun, srun or mpirun started; or kindred.Ranks. None:
        this one alone.
    """

    _method = "pg-kmeans"
    _options: ClassVar[dict[str, str]] = {
        "n_clusters": "k",
        "merge_to": "merge-to",
        "k_max": "k-max",
        "restarts": "restarts",
        "random_state": "seed",
        "policy": "policy",
        "choose": "choose",
        "init": "init",
        "max_rounds": "max-rounds",
        "change_tolerance": "change-tolerance",
        "common_share": "common-share",
        "log_prob_floor": "log-prob-floor",
        "empty_cluster": "empty-cluster",
        "merge_rule": "merge-rule",
        "refine": "refine",
        "standardize": "standardize",
        "standardize_actions": "standardize-actions",
        "hidden": "hidden",
        "hidden_layers": "hidden-layers",
        "learning_rate": "learning-rate",
        "max_gradient_norm": "max-gradient-norm",
        "max_steps": "max-steps",
        "plateau_steps": "plateau-steps",
        "plateau_tolerance": "plateau-tolerance",
        "batch_steps": "batch-steps",
        "batch_trajectories": "batch-trajectories",
        "buffer_steps": "buffer-steps",
        "smoothing": "smoothing",
        "cosines": "cosines",
        "ridge": "ridge",
        "separation": "separation",
        "seeds": "seeds",
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        merge_to: int = 0,
        k_max: int = 12,
        restarts: int = 0,
        random_state: Any = None,
        policy: str = 'auto',
        choose: str = 'auto',
        init: str = 'random',
        max_rounds: int = 30,
        change_tolerance: float = 0.001,
        common_share: float | str = 'auto',
        log_prob_floor: float | str = 'auto',
        empty_cluster: str = 'drop',
        merge_rule: str = 'least-loss',
        refine: bool = True,
        standardize: str = 'auto',
        standardize_actions: bool = True,
        hidden: int = 128,
        hidden_layers: int = 2,
        learning_rate: float = 0.001,
        max_gradient_norm: float = 0.5,
        max_steps: int = 1000,
        plateau_steps: int = 30,
        plateau_tolerance: float = 0.001,
        batch_steps: int = 512,
        batch_trajectories: int = 0,
        buffer_steps: int = 0,
        smoothing: float = 0.0,
        cosines: int = 60,
        ridge: float = 10.0,
        separation: float = 0.0,
        seeds: str = '',
        preset: str | None = None,
        n_jobs: int | None = None,
        device: str = 'cpu',
        run: str | os.PathLike[str] | None = None,
        resume: bool = False,
        force: bool = False,
        progress: bool | ProgressCallback = False,
        communicator: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.merge_to = merge_to
        self.k_max = k_max
        self.restarts = restarts
        self.random_state = random_state
        self.policy = policy
        self.choose = choose
        self.init = init
        self.max_rounds = max_rounds
        self.change_tolerance = change_tolerance
        self.common_share = common_share
        self.log_prob_floor = log_prob_floor
        self.empty_cluster = empty_cluster
        self.merge_rule = merge_rule
        self.refine = refine
        self.standardize = standardize
        self.standardize_actions = standardize_actions
        self.hidden = hidden
        self.hidden_layers = hidden_layers
        self.learning_rate = learning_rate
        self.max_gradient_norm = max_gradient_norm
        self.max_steps = max_steps
        self.plateau_steps = plateau_steps
        self.plateau_tolerance = plateau_tolerance
        self.batch_steps = batch_steps
        self.batch_trajectories = batch_trajectories
        self.buffer_steps = buffer_steps
        self.smoothing = smoothing
        self.cosines = cosines
        self.ridge = ridge
        self.separation = separation
        self.seeds = seeds
        self.preset = preset
        self.n_jobs = n_jobs
        self.device = device
        self.run = run
        self.resume = resume
        self.force = force
        self.progress = progress
        self.communicator = communicator


class CAAE(Estimator):
    """Autoencoder whose latents are drawn to learned centroids.

    Parameters
    ----------
    n_clusters : int | None, default None
        How many clusters to fit. auto: as many as predict held-out episodes better.
    k_max : int, default 12
        The most clusters to try where k is auto.
    merge_to : int, default 0
        Merge the k clusters down to this many at the end; 0 keeps all of them.
    restarts : int, default 1
        Independent starts; the highest objective wins.
    random_state : Any, default None
        Every random number follows from this seed.
    reconstruction : str, default 'sum'
        A trajectory's reconstruction error: the sum over its steps, or their mean.
    standardize : str, default 'auto'
        Scale observations by the dataset's mean and deviation; auto leaves observations of zeros
        and ones (gridworlds) as they are.
    max_steps : int, default 0
        Training steps; 0: enough to see 12.5 million steps of trajectories, but at most 24 passes
        over the data, and at least 300.
    batch_trajectories : int, default 0
        Trajectories in one training step; 0: 64, or an eighth of fewer than 512.
    buffer_steps : int, default 0
        Draw from about so many steps at a time, blocks of neighbouring episodes in random order; 0:
        from all, or, where --memory has no room for them, from what a quarter of it holds.
    learning_rate : float, default 0.001
        Adam's learning rate.
    decay : bool, default True
        Let the learning rate fall to zero over the second half of training.
    max_gradient_norm : float | str, default 'off'
        The gradient's norm is clipped to this.
    hidden : int, default 128
        Width of the encoder's layers before and after the GRU; a multiple of 16.
    gru_width : int, default 64
        Width of the GRU's state; a multiple of 16.
    heads : int, default 2
        Heads of the encoder's attention.
    head_size : int, default 8
        Latent numbers per head; heads times head-size is a multiple of 8.
    alpha : float, default 1.0
        How strongly latent vectors are drawn to their centroid.
    warmup : float, default 0.25
        Share of the training steps over which alpha rises from 0 to its value.
    regulariser : float, default 1.0
        Weight of the term that keeps centroids apart; 0 leaves it out.
    refit : bool, default True
        Between rounds, replace the centroids by a k-means solution of the latent vectors where that
        is clearly better.
    n_jobs : int | None, default None
        Threads to use; None: every core.
    device : str, default 'cpu'
        'cpu' or 'cuda'.
    run : str | os.PathLike[str] | None, default None
        Where to keep the run folder; None: for as long as the model lives.
    resume : bool, default False
        Go on with what an interrupted fit left in `run`.
    force : bool, default False
        Replace a finished run in `run`.
    progress : bool | ProgressCallback, default False
        True: a tqdm bar; or a function of (stage, round, rounds, share).
    communicator : Any, default None
        Processes to share fits with, each of which makes the same calls: 'torch' or a group of
        torch.distributed's; 'env', what torchrun, srun or mpirun started; or kindred.Ranks. None:
        this one alone.
    """

    _method = "caae"
    _options: ClassVar[dict[str, str]] = {
        "n_clusters": "k",
        "k_max": "k-max",
        "merge_to": "merge-to",
        "restarts": "restarts",
        "random_state": "seed",
        "reconstruction": "reconstruction",
        "standardize": "standardize",
        "max_steps": "max-steps",
        "batch_trajectories": "batch-trajectories",
        "buffer_steps": "buffer-steps",
        "learning_rate": "learning-rate",
        "decay": "decay",
        "max_gradient_norm": "max-gradient-norm",
        "hidden": "hidden",
        "gru_width": "gru-width",
        "heads": "heads",
        "head_size": "head-size",
        "alpha": "alpha",
        "warmup": "warmup",
        "regulariser": "regulariser",
        "refit": "refit",
    }
    preset = None

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        k_max: int = 12,
        merge_to: int = 0,
        restarts: int = 1,
        random_state: Any = None,
        reconstruction: str = 'sum',
        standardize: str = 'auto',
        max_steps: int = 0,
        batch_trajectories: int = 0,
        buffer_steps: int = 0,
        learning_rate: float = 0.001,
        decay: bool = True,
        max_gradient_norm: float | str = 'off',
        hidden: int = 128,
        gru_width: int = 64,
        heads: int = 2,
        head_size: int = 8,
        alpha: float = 1.0,
        warmup: float = 0.25,
        regulariser: float = 1.0,
        refit: bool = True,
        n_jobs: int | None = None,
        device: str = 'cpu',
        run: str | os.PathLike[str] | None = None,
        resume: bool = False,
        force: bool = False,
        progress: bool | ProgressCallback = False,
        communicator: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.k_max = k_max
        self.merge_to = merge_to
        self.restarts = restarts
        self.random_state = random_state
        self.reconstruction = reconstruction
        self.standardize = standardize
        self.max_steps = max_steps
        self.batch_trajectories = batch_trajectories
        self.buffer_steps = buffer_steps
        self.learning_rate = learning_rate
        self.decay = decay
        self.max_gradient_norm = max_gradient_norm
        self.hidden = hidden
        self.gru_width = gru_width
        self.heads = heads
        self.head_size = head_size
        self.alpha = alpha
        self.warmup = warmup
        self.regulariser = regulariser
        self.refit = refit
        self.n_jobs = n_jobs
        self.device = device
        self.run = run
        self.resume = resume
        self.force = force
        self.progress = progress
        self.communicator = communicator


class DEC(Estimator):
    """Autoencoder, k-means, then self-training of the encoder.

    Parameters
    ----------
    n_clusters : int | None, default None
        How many clusters to fit. auto: as many as predict held-out episodes better.
    k_max : int, default 12
        The most clusters to try where k is auto.
    merge_to : int, default 0
        Merge the k clusters down to this many at the end; 0 keeps all of them.
    restarts : int, default 1
        Independent starts; the highest objective wins.
    random_state : Any, default None
        Every random number follows from this seed.
    reconstruction : str, default 'sum'
        A trajectory's reconstruction error: the sum over its steps, or their mean.
    standardize : str, default 'auto'
        Scale observations by the dataset's mean and deviation; auto leaves observations of zeros
        and ones (gridworlds) as they are.
    max_steps : int, default 0
        Training steps; 0: enough to see 12.5 million steps of trajectories, but at most 24 passes
        over the data, and at least 300.
    batch_trajectories : int, default 0
        Trajectories in one training step; 0: 64, or an eighth of fewer than 512.
    buffer_steps : int, default 0
        Draw from about so many steps at a time, blocks of neighbouring episodes in random order; 0:
        from all, or, where --memory has no room for them, from what a quarter of it holds.
    learning_rate : float, default 0.001
        Adam's learning rate.
    decay : bool, default True
        Let the learning rate fall to zero over the second half of training.
    max_gradient_norm : float | str, default 'off'
        The gradient's norm is clipped to this.
    hidden : int, default 128
        Width of the encoder's layers before and after the GRU; a multiple of 16.
    gru_width : int, default 64
        Width of the GRU's state; a multiple of 16.
    heads : int, default 2
        Heads of the encoder's attention.
    head_size : int, default 8
        Latent numbers per head; heads times head-size is a multiple of 8.
    variant : str, default 'pretrained'
        As published (pretrain, k-means, self-train the encoder), or the divergence added to the
        reconstruction from the start.
    pretrain : float, default 0.6
        Share of the training steps spent on reconstruction alone; variant pretrained.
    kl_weight : float, default 0.5
        Weight of the divergence beside the reconstruction; variant joint.
    kmeans_starts : int, default 20
        Starts of k-means (k-means++); the cheapest wins.
    refresh_steps : int, default 0
        Training steps between two updates of the target; 0: one pass over the data.
    change_tolerance : float, default 0.001
        Converged when less than this share of labels changes between two updates.
    n_jobs : int | None, default None
        Threads to use; None: every core.
    device : str, default 'cpu'
        'cpu' or 'cuda'.
    run : str | os.PathLike[str] | None, default None
        Where to keep the run folder; None: for as long as the model lives.
    resume : bool, default False
        Go on with what an interrupted fit left in `run`.
    force : bool, default False
        Replace a finished run in `run`.
    progress : bool | ProgressCallback, default False
        True: a tqdm bar; or a function of (stage, round, rounds, share).
    communicator : Any, default None
        Processes to share fits with, each of which makes the same calls: 'torch' or a group of
        torch.distributed's; 'env', what torchrun, srun or mpirun started; or kindred.Ranks. None:
        this one alone.
    """

    _method = "dec"
    _options: ClassVar[dict[str, str]] = {
        "n_clusters": "k",
        "k_max": "k-max",
        "merge_to": "merge-to",
        "restarts": "restarts",
        "random_state": "seed",
        "reconstruction": "reconstruction",
        "standardize": "standardize",
        "max_steps": "max-steps",
        "batch_trajectories": "batch-trajectories",
        "buffer_steps": "buffer-steps",
        "learning_rate": "learning-rate",
        "decay": "decay",
        "max_gradient_norm": "max-gradient-norm",
        "hidden": "hidden",
        "gru_width": "gru-width",
        "heads": "heads",
        "head_size": "head-size",
        "variant": "variant",
        "pretrain": "pretrain",
        "kl_weight": "kl-weight",
        "kmeans_starts": "kmeans-starts",
        "refresh_steps": "refresh-steps",
        "change_tolerance": "change-tolerance",
    }
    preset = None

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        k_max: int = 12,
        merge_to: int = 0,
        restarts: int = 1,
        random_state: Any = None,
        reconstruction: str = 'sum',
        standardize: str = 'auto',
        max_steps: int = 0,
        batch_trajectories: int = 0,
        buffer_steps: int = 0,
        learning_rate: float = 0.001,
        decay: bool = True,
        max_gradient_norm: float | str = 'off',
        hidden: int = 128,
        gru_width: int = 64,
        heads: int = 2,
        head_size: int = 8,
        variant: str = 'pretrained',
        pretrain: float = 0.6,
        kl_weight: float = 0.5,
        kmeans_starts: int = 20,
        refresh_steps: int = 0,
        change_tolerance: float = 0.001,
        n_jobs: int | None = None,
        device: str = 'cpu',
        run: str | os.PathLike[str] | None = None,
        resume: bool = False,
        force: bool = False,
        progress: bool | ProgressCallback = False,
        communicator: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.k_max = k_max
        self.merge_to = merge_to
        self.restarts = restarts
        self.random_state = random_state
        self.reconstruction = reconstruction
        self.standardize = standardize
        self.max_steps = max_steps
        self.batch_trajectories = batch_trajectories
        self.buffer_steps = buffer_steps
        self.learning_rate = learning_rate
        self.decay = decay
        self.max_gradient_norm = max_gradient_norm
        self.hidden = hidden
        self.gru_width = gru_width
        self.heads = heads
        self.head_size = head_size
        self.variant = variant
        self.pretrain = pretrain
        self.kl_weight = kl_weight
        self.kmeans_starts = kmeans_starts
        self.refresh_steps = refresh_steps
        self.change_tolerance = change_tolerance
        self.n_jobs = n_jobs
        self.device = device
        self.run = run
        self.resume = resume
        self.force = force
        self.progress = progress
        self.communicator = communicator


class VAEKMeans(Estimator):
    """Variational autoencoder, then k-means on its latent means.

    Parameters
    ----------
    n_clusters : int | None, default None
        How many clusters to fit. auto: as many as predict held-out episodes better.
    k_max : int, default 12
        The most clusters to try where k is auto.
    merge_to : int, default 0
        Merge the k clusters down to this many at the end; 0 keeps all of them.
    restarts : int, default 1
        Independent starts; the highest objective wins.
    random_state : Any, default None
        Every random number follows from this seed.
    reconstruction : str, default 'sum'
        A trajectory's reconstruction error: the sum over its steps, or their mean.
    standardize : str, default 'auto'
        Scale observations by the dataset's mean and deviation; auto leaves observations of zeros
        and ones (gridworlds) as they are.
    max_steps : int, default 0
        Training steps; 0: enough to see 12.5 million steps of trajectories, but at most 24 passes
        over the data, and at least 300.
    batch_trajectories : int, default 0
        Trajectories in one training step; 0: 64, or an eighth of fewer than 512.
    buffer_steps : int, default 0
        Draw from about so many steps at a time, blocks of neighbouring episodes in random order; 0:
        from all, or, where --memory has no room for them, from what a quarter of it holds.
    learning_rate : float, default 0.001
        Adam's learning rate.
    decay : bool, default True
        Let the learning rate fall to zero over the second half of training.
    max_gradient_norm : float | str, default 'off'
        The gradient's norm is clipped to this.
    hidden : int, default 128
        Width of the encoder's layers before and after the GRU; a multiple of 16.
    gru_width : int, default 64
        Width of the GRU's state; a multiple of 16.
    heads : int, default 2
        Heads of the encoder's attention.
    head_size : int, default 8
        Latent numbers per head; heads times head-size is a multiple of 8.
    kl_weight : float, default 0.5
        Weight of the divergence of a latent distribution from the standard normal.
    kmeans_starts : int, default 10
        Starts of k-means (k-means++); the cheapest wins.
    n_jobs : int | None, default None
        Threads to use; None: every core.
    device : str, default 'cpu'
        'cpu' or 'cuda'.
    run : str | os.PathLike[str] | None, default None
        Where to keep the run folder; None: for as long as the model lives.
    resume : bool, default False
        Go on with what an interrupted fit left in `run`.
    force : bool, default False
        Replace a finished run in `run`.
    progress : bool | ProgressCallback, default False
        True: a tqdm bar; or a function of (stage, round, rounds, share).
    communicator : Any, default None
        Processes to share fits with, each of which makes the same calls: 'torch' or a group of
        torch.distributed's; 'env', what torchrun, srun or mpirun started; or kindred.Ranks. None:
        this one alone.
    """

    _method = "vae-kmeans"
    _options: ClassVar[dict[str, str]] = {
        "n_clusters": "k",
        "k_max": "k-max",
        "merge_to": "merge-to",
        "restarts": "restarts",
        "random_state": "seed",
        "reconstruction": "reconstruction",
        "standardize": "standardize",
        "max_steps": "max-steps",
        "batch_trajectories": "batch-trajectories",
        "buffer_steps": "buffer-steps",
        "learning_rate": "learning-rate",
        "decay": "decay",
        "max_gradient_norm": "max-gradient-norm",
        "hidden": "hidden",
        "gru_width": "gru-width",
        "heads": "heads",
        "head_size": "head-size",
        "kl_weight": "kl-weight",
        "kmeans_starts": "kmeans-starts",
    }
    preset = None

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        k_max: int = 12,
        merge_to: int = 0,
        restarts: int = 1,
        random_state: Any = None,
        reconstruction: str = 'sum',
        standardize: str = 'auto',
        max_steps: int = 0,
        batch_trajectories: int = 0,
        buffer_steps: int = 0,
        learning_rate: float = 0.001,
        decay: bool = True,
        max_gradient_norm: float | str = 'off',
        hidden: int = 128,
        gru_width: int = 64,
        heads: int = 2,
        head_size: int = 8,
        kl_weight: float = 0.5,
        kmeans_starts: int = 10,
        n_jobs: int | None = None,
        device: str = 'cpu',
        run: str | os.PathLike[str] | None = None,
        resume: bool = False,
        force: bool = False,
        progress: bool | ProgressCallback = False,
        communicator: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.k_max = k_max
        self.merge_to = merge_to
        self.restarts = restarts
        self.random_state = random_state
        self.reconstruction = reconstruction
        self.standardize = standardize
        self.max_steps = max_steps
        self.batch_trajectories = batch_trajectories
        self.buffer_steps = buffer_steps
        self.learning_rate = learning_rate
        self.decay = decay
        self.max_gradient_norm = max_gradient_norm
        self.hidden = hidden
        self.gru_width = gru_width
        self.heads = heads
        self.head_size = head_size
        self.kl_weight = kl_weight
        self.kmeans_starts = kmeans_starts
        self.n_jobs = n_jobs
        self.device = device
        self.run = run
        self.resume = resume
        self.force = force
        self.progress = progress
        self.communicator = communicator


class VQVAE(Estimator):
    """Vector-quantised autoencoder; the nearest code decides.

    Parameters
    ----------
    n_clusters : int | None, default None
        How many clusters to fit. auto: as many as predict held-out episodes better.
    k_max : int, default 12
        The most clusters to try where k is auto.
    merge_to : int, default 0
        Merge the k clusters down to this many at the end; 0 keeps all of them.
    restarts : int, default 1
        Independent starts; the highest objective wins.
    random_state : Any, default None
        Every random number follows from this seed.
    reconstruction : str, default 'sum'
        A trajectory's reconstruction error: the sum over its steps, or their mean.
    standardize : str, default 'auto'
        Scale observations by the dataset's mean and deviation; auto leaves observations of zeros
        and ones (gridworlds) as they are.
    max_steps : int, default 0
        Training steps; 0: enough to see 12.5 million steps of trajectories, but at most 24 passes
        over the data, and at least 300.
    batch_trajectories : int, default 0
        Trajectories in one training step; 0: 64, or an eighth of fewer than 512.
    buffer_steps : int, default 0
        Draw from about so many steps at a time, blocks of neighbouring episodes in random order; 0:
        from all, or, where --memory has no room for them, from what a quarter of it holds.
    learning_rate : float, default 0.001
        Adam's learning rate.
    decay : bool, default True
        Let the learning rate fall to zero over the second half of training.
    max_gradient_norm : float | str, default 'off'
        The gradient's norm is clipped to this.
    hidden : int, default 128
        Width of the encoder's layers before and after the GRU; a multiple of 16.
    gru_width : int, default 64
        Width of the GRU's state; a multiple of 16.
    heads : int, default 2
        Heads of the encoder's attention.
    head_size : int, default 8
        Latent numbers per head; heads times head-size is a multiple of 8.
    commitment : float, default 1.0
        How strongly latent vectors are drawn to their code.
    refit : bool, default True
        Between rounds, replace the codes by a k-means solution of the latent vectors where that is
        clearly better.
    n_jobs : int | None, default None
        Threads to use; None: every core.
    device : str, default 'cpu'
        'cpu' or 'cuda'.
    run : str | os.PathLike[str] | None, default None
        Where to keep the run folder; None: for as long as the model lives.
    resume : bool, default False
        Go on with what an interrupted fit left in `run`.
    force : bool, default False
        Replace a finished run in `run`.
    progress : bool | ProgressCallback, default False
        True: a tqdm bar; or a function of (stage, round, rounds, share).
    communicator : Any, default None
        Processes to share fits with, each of which makes the same calls: 'torch' or a group of
        torch.distributed's; 'env', what torchrun, srun or mpirun started; or kindred.Ranks. None:
        this one alone.
    """

    _method = "vq-vae"
    _options: ClassVar[dict[str, str]] = {
        "n_clusters": "k",
        "k_max": "k-max",
        "merge_to": "merge-to",
        "restarts": "restarts",
        "random_state": "seed",
        "reconstruction": "reconstruction",
        "standardize": "standardize",
        "max_steps": "max-steps",
        "batch_trajectories": "batch-trajectories",
        "buffer_steps": "buffer-steps",
        "learning_rate": "learning-rate",
        "decay": "decay",
        "max_gradient_norm": "max-gradient-norm",
        "hidden": "hidden",
        "gru_width": "gru-width",
        "heads": "heads",
        "head_size": "head-size",
        "commitment": "commitment",
        "refit": "refit",
    }
    preset = None

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        k_max: int = 12,
        merge_to: int = 0,
        restarts: int = 1,
        random_state: Any = None,
        reconstruction: str = 'sum',
        standardize: str = 'auto',
        max_steps: int = 0,
        batch_trajectories: int = 0,
        buffer_steps: int = 0,
        learning_rate: float = 0.001,
        decay: bool = True,
        max_gradient_norm: float | str = 'off',
        hidden: int = 128,
        gru_width: int = 64,
        heads: int = 2,
        head_size: int = 8,
        commitment: float = 1.0,
        refit: bool = True,
        n_jobs: int | None = None,
        device: str = 'cpu',
        run: str | os.PathLike[str] | None = None,
        resume: bool = False,
        force: bool = False,
        progress: bool | ProgressCallback = False,
        communicator: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.k_max = k_max
        self.merge_to = merge_to
        self.restarts = restarts
        self.random_state = random_state
        self.reconstruction = reconstruction
        self.standardize = standardize
        self.max_steps = max_steps
        self.batch_trajectories = batch_trajectories
        self.buffer_steps = buffer_steps
        self.learning_rate = learning_rate
        self.decay = decay
        self.max_gradient_norm = max_gradient_norm
        self.hidden = hidden
        self.gru_width = gru_width
        self.heads = heads
        self.head_size = head_size
        self.commitment = commitment
        self.refit = refit
        self.n_jobs = n_jobs
        self.device = device
        self.run = run
        self.resume = resume
        self.force = force
        self.progress = progress
        self.communicator = communicator


class SORL(Estimator):
    """Policies trained on all data by soft shares; largest wins.

    Parameters
    ----------
    n_clusters : int | None, default None
        How many policies to fit. auto: as many as predict held-out episodes better.
    k_max : int, default 12
        The most clusters to try where k is auto.
    merge_to : int, default 0
        Merge the k clusters down to this many at the end; 0 keeps all of them.
    restarts : int, default 1
        Independent random starts, trained together; the highest objective wins.
    random_state : Any, default None
        Every random number follows from this seed.
    posterior : str, default 'sum'
        A policy's share in a trajectory: proportional to the sum of its steps' probabilities, as in
        SORL's own code, or to their product.
    max_rounds : int, default 100
        Stop after this many passes over the data.
    change_tolerance : float, default 0.001
        Converged when at most this share of labels changes in the last round, on a plateau.
    plateau_rounds : int, default 10
        Rounds without progress that make a plateau, where training ends.
    plateau_tolerance : float, default 0.001
        Progress is a gain of the objective of at least this per step.
    merge_rule : str, default 'least-loss'
        Which pair to merge: the one that lowers the likelihood least, or the paper's printed rule.
    standardize : str, default 'auto'
        Scale observations by the dataset's mean and deviation; auto leaves observations of zeros
        and ones (gridworlds) as they are.
    hidden : int, default 128
        Width of the policy's hidden layers.
    hidden_layers : int, default 2
        Number of the policy's hidden layers.
    learning_rate : float, default 0.001
        Adam's learning rate.
    max_gradient_norm : float, default 0.5
        Gradient norm of one policy is clipped to this.
    batch_trajectories : int, default 64
        Trajectories whose shares are computed again with the policies as they are, then trained on.
    batch_steps : int, default 2048
        Most steps of these trajectories in one gradient step; 0: all of them.
    buffer_steps : int, default 0
        Draw from about so many steps at a time, blocks of neighbouring episodes in random order; 0:
        from all, or, where --memory has no room for them, from what a quarter of it holds.
    n_jobs : int | None, default None
        Threads to use; None: every core.
    device : str, default 'cpu'
        'cpu' or 'cuda'.
    run : str | os.PathLike[str] | None, default None
        Where to keep the run folder; None: for as long as the model lives.
    resume : bool, default False
        Go on with what an interrupted fit left in `run`.
    force : bool, default False
        Replace a finished run in `run`.
    progress : bool | ProgressCallback, default False
        True: a tqdm bar; or a function of (stage, round, rounds, share).
    communicator : Any, default None
        Processes to share fits with, each of which makes the same calls: 'torch' or a group of
        torch.distributed's; 'env', what torchrun, srun or mpirun started; or kindred.Ranks. None:
        this one alone.
    """

    _method = "sorl"
    _options: ClassVar[dict[str, str]] = {
        "n_clusters": "k",
        "k_max": "k-max",
        "merge_to": "merge-to",
        "restarts": "restarts",
        "random_state": "seed",
        "posterior": "posterior",
        "max_rounds": "max-rounds",
        "change_tolerance": "change-tolerance",
        "plateau_rounds": "plateau-rounds",
        "plateau_tolerance": "plateau-tolerance",
        "merge_rule": "merge-rule",
        "standardize": "standardize",
        "hidden": "hidden",
        "hidden_layers": "hidden-layers",
        "learning_rate": "learning-rate",
        "max_gradient_norm": "max-gradient-norm",
        "batch_trajectories": "batch-trajectories",
        "batch_steps": "batch-steps",
        "buffer_steps": "buffer-steps",
    }
    preset = None

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        k_max: int = 12,
        merge_to: int = 0,
        restarts: int = 1,
        random_state: Any = None,
        posterior: str = 'sum',
        max_rounds: int = 100,
        change_tolerance: float = 0.001,
        plateau_rounds: int = 10,
        plateau_tolerance: float = 0.001,
        merge_rule: str = 'least-loss',
        standardize: str = 'auto',
        hidden: int = 128,
        hidden_layers: int = 2,
        learning_rate: float = 0.001,
        max_gradient_norm: float = 0.5,
        batch_trajectories: int = 64,
        batch_steps: int = 2048,
        buffer_steps: int = 0,
        n_jobs: int | None = None,
        device: str = 'cpu',
        run: str | os.PathLike[str] | None = None,
        resume: bool = False,
        force: bool = False,
        progress: bool | ProgressCallback = False,
        communicator: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.k_max = k_max
        self.merge_to = merge_to
        self.restarts = restarts
        self.random_state = random_state
        self.posterior = posterior
        self.max_rounds = max_rounds
        self.change_tolerance = change_tolerance
        self.plateau_rounds = plateau_rounds
        self.plateau_tolerance = plateau_tolerance
        self.merge_rule = merge_rule
        self.standardize = standardize
        self.hidden = hidden
        self.hidden_layers = hidden_layers
        self.learning_rate = learning_rate
        self.max_gradient_norm = max_gradient_norm
        self.batch_trajectories = batch_trajectories
        self.batch_steps = batch_steps
        self.buffer_steps = buffer_steps
        self.n_jobs = n_jobs
        self.device = device
        self.run = run
        self.resume = resume
        self.force = force
        self.progress = progress
        self.communicator = communicator


class ReturnKMeans(Estimator):
    """Episodes by their return alone (exact 1-D k-means).

    Parameters
    ----------
    n_clusters : int | None, default None
        How many groups of returns to find. auto: as many as predict held-out episodes better.
    k_max : int, default 12
        The most clusters to try where k is auto.
    merge_to : int, default 0
        The number of groups wanted in the end: the exact optimum for it replaces k; 0: k.
    n_jobs : int | None, default None
        Threads to use; None: every core.
    device : str, default 'cpu'
        'cpu' or 'cuda'.
    run : str | os.PathLike[str] | None, default None
        Where to keep the run folder; None: for as long as the model lives.
    resume : bool, default False
        Go on with what an interrupted fit left in `run`.
    force : bool, default False
        Replace a finished run in `run`.
    progress : bool | ProgressCallback, default False
        True: a tqdm bar; or a function of (stage, round, rounds, share).
    communicator : Any, default None
        Processes to share fits with, each of which makes the same calls: 'torch' or a group of
        torch.distributed's; 'env', what torchrun, srun or mpirun started; or kindred.Ranks. None:
        this one alone.
    """

    _method = "return-kmeans"
    _options: ClassVar[dict[str, str]] = {
        "n_clusters": "k",
        "k_max": "k-max",
        "merge_to": "merge-to",
    }
    preset = None

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        k_max: int = 12,
        merge_to: int = 0,
        n_jobs: int | None = None,
        device: str = 'cpu',
        run: str | os.PathLike[str] | None = None,
        resume: bool = False,
        force: bool = False,
        progress: bool | ProgressCallback = False,
        communicator: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.k_max = k_max
        self.merge_to = merge_to
        self.n_jobs = n_jobs
        self.device = device
        self.run = run
        self.resume = resume
        self.force = force
        self.progress = progress
        self.communicator = communicator

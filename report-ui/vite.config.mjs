// Builds the page as one file: script and style inside, nothing fetched.
import {defineConfig} from 'vite';

/// Moves the built script and style into the page; a module script waits for the data below it.
const inline = {
  name: 'inline',
  enforce: 'post',
  generateBundle(_, bundle) {
    const page = bundle['index.html'];
    for (const [name, part] of Object.entries(bundle)) {
      if (part === page) continue;
      const text = part.type === 'chunk' ? part.code : part.source;
      const tag = part.type === 'chunk'
        ? new RegExp(`<script[^>]*src="[^"]*${name}"[^>]*></script>`)
        : new RegExp(`<link[^>]*href="[^"]*${name}"[^>]*>`);
      const inside = part.type === 'chunk'
        ? `<script type="module">${text.replaceAll('</script', '<\\/script')}</script>`
        : `<style>${text}</style>`;
      page.source = page.source.replace(tag, () => inside);
      delete bundle[name];
    }
  },
};

export default defineConfig({
  base: './',
  plugins: [inline],
  build: {
    target: 'es2021',
    modulePreload: false,
    assetsInlineLimit: Infinity,
    emptyOutDir: false,
    reportCompressedSize: false,
  },
});

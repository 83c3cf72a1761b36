/** The settings of VitePress for the pages that `tools/site/build.ts` has written to `build/site-pages`. */

import { readFileSync } from 'node:fs'
import { defineConfig } from 'vitepress'

// VitePress runs in the root of the repository.
const { base, sidebar } = JSON.parse(readFileSync('build/site-pages/site.json', 'utf8'))

export default defineConfig({
  title: 'Reveille',
  description: 'The webhook gateway that wakes AI agents, and can prove what happened.',
  lang: 'en',
  base,
  srcDir: '../../build/site-pages',
  outDir: '../../build/site',
  cacheDir: './node_modules/.cache',
  vite: { build: { target: 'es2022' } },
  head: [['link', { rel: 'icon', href: `${base}icon.svg`, type: 'image/svg+xml' }]],
  markdown: {
    // Text such as <name> and {{name}} is text.
    html: false,
    attrs: { disable: true },
    anchor: { slugify: gitHubSlug },
    config: (md) => {
      md.disable(['emoji'], true)
      for (const name of ['text', 'code_inline']) {
        const render = md.renderer.rules[name]
        md.renderer.rules[name] = (...args) => (render?.(...args) ?? '').replaceAll('{{', '&#123;&#123;')
      }
    },
  },
  themeConfig: {
    logo: '/icon.svg',
    nav: [
      { text: 'First steps', link: '/start' },
      { text: 'Guide', link: '/using' },
      { text: 'Recipes', link: '/recipes/' },
      { text: 'Running', link: '/running' },
      { text: 'Reference', link: '/reference/http', activeMatch: '^/reference/' },
    ],
    sidebar,
    outline: [2, 3],
    search: { provider: 'local' },
  },
})

/** Makes the addresses of headings that GitHub makes, because links between the pages use them. */
function gitHubSlug(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

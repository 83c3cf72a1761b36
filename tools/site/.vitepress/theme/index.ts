/** VitePress's default theme, with a link to the Markdown of each page, and more room for code and diagrams. */

import { useData, withBase } from 'vitepress'
import DefaultTheme from 'vitepress/theme'
import { h } from 'vue'
import './style.css'

export default {
  extends: DefaultTheme,
  Layout: () => h(DefaultTheme.Layout, null, { 'doc-footer-before': () => h(MarkdownLink) }),
}

function MarkdownLink() {
  const { page } = useData()
  // VitePress opens links without a target itself, as pages.
  const attributes = {
    href: withBase(`/${page.value.relativePath}`),
    target: '_self',
    class: 'markdown-link',
  }
  return h('a', attributes, 'This page as Markdown')
}

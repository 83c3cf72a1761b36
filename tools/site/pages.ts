/** Lists the pages of the site in the order of its sidebar, and says where each file of the repository stands on the site. */

import { globSync } from 'node:fs'

interface Group {
  readonly title: string
  /** Files of the repository. One that ends with `/` stands for all pages of that folder, its README first. */
  readonly pages: readonly string[]
}

export const groups: readonly Group[] = [
  {
    title: 'Start',
    pages: ['docs/index.md', 'README.md', 'docs/first-mapping.md', 'docs/glossary.md', 'SKILL.md'],
  },
  { title: 'Guides', pages: ['docs/using.md', 'docs/developing.md', 'docs/operating.md'] },
  {
    title: 'Mappings and transforms',
    pages: [
      'docs/mappings.md',
      'mappings/README.md',
      'docs/transforms.md',
      'transforms/README.md',
      'docs/openclaw.md',
    ],
  },
  {
    title: 'Agents and channels',
    pages: [
      'docs/agents.md',
      'plugins/ai/README.md',
      'plugins/command/README.md',
      'plugins/openclaw/README.md',
      'docs/channels.md',
      'plugins/slack/README.md',
      'plugins/telegram/README.md',
      'plugins/discord/README.md',
      'plugins/mattermost/README.md',
      'plugins/http/README.md',
      'plugins/whatsapp/README.md',
      'plugins/signal/README.md',
      'plugins/imessage/README.md',
      'plugins/msteams/README.md',
      'docs/connect.md',
      'plugins/gmail/README.md',
    ],
  },
  {
    title: 'Running',
    pages: ['docs/trust.md', 'docs/running.md', 'docs/many-machines.md', 'docs/benchmark.md', 'SECURITY.md'],
  },
  { title: 'Recipes', pages: ['docs/recipes/'] },
  { title: 'Reference', pages: ['docs/reference/', 'CHANGELOG.md'] },
  {
    title: 'Contributing',
    pages: ['CONTRIBUTING.md', 'ARCHITECTURE.md', 'docs/writing-plugins.md', 'plugins/kit/README.md'],
  },
  { title: 'Decisions', pages: ['docs/decisions/'] },
]

/** The names of pages in the sidebar, where the title of the page says too little among others. */
export const names: Readonly<Record<string, string>> = {
  'docs/index.md': 'What Reveille is',
  'README.md': 'First steps',
  'mappings/README.md': 'Presets',
  'SKILL.md': 'For coding agents',
}

/** Lists the files of a group, in the order of the sidebar. */
export function pagesOf(root: string, group: Group): string[] {
  return group.pages.flatMap((page) => (page.endsWith('/') ? pagesBelow(root, page) : [page]))
}

function pagesBelow(root: string, folder: string): string[] {
  const pages = globSync(`${folder}**/*.md`, { cwd: root }).map((page) => page.replaceAll('\\', '/'))
  const isReadme = (page: string) => page.endsWith('/README.md')
  return [...pages.filter(isReadme), ...pages.filter((page) => !isReadme(page)).sort()]
}

/** Lists the READMEs that no group holds. They are pages of the site too, because other pages link to them. */
export function otherPages(root: string): string[] {
  const listed = new Set(groups.flatMap((group) => pagesOf(root, group)))
  const exclude = (name: string) => ['node_modules', 'build', 'local', 'template'].includes(name)
  return globSync('{engine,runtime,plugins,mappings,transforms,console,tools,test}/**/README.md', {
    cwd: root,
    exclude: (name) => name.split(/[/\\]/).some(exclude),
  })
    .map((page) => page.replaceAll('\\', '/'))
    .filter((page) => !listed.has(page))
    .sort()
}

const addresses: Readonly<Record<string, string>> = {
  'README.md': 'start.md',
  'mappings/README.md': 'presets.md',
  'transforms/README.md': 'transform-examples.md',
}

/** Returns where a Markdown file of the repository stands on the site, such as `plugins/slack.md`. */
export function addressOf(file: string): string {
  const address = addresses[file]
  if (address !== undefined) return address
  if (file.startsWith('docs/')) return file.slice('docs/'.length).replace(/README\.md$/, 'index.md')
  if (!file.includes('/')) return file.toLowerCase()
  const folder = file.replace(/\/README\.md$/, '.md')
  return /^plugins\/[^/]+\.md$/.test(folder) ? folder : `source/${folder}`
}

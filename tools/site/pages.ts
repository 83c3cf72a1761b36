/** Lists the pages of the site in the order of its sidebar, and says where each file of the repository stands there. */

import { globSync } from 'node:fs'

interface Group {
  readonly title: string
  /** Files of the repository. One that ends with `/` stands for all pages of that folder, its README first. */
  readonly pages: readonly string[]
}

export const groups: readonly Group[] = [
  { title: 'Start', pages: ['docs/index.md', 'README.md', 'docs/how-it-works.md', 'docs/glossary.md'] },
  { title: 'Tours', pages: ['docs/tours/'] },
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
      'plugins/whatsapp/README.md',
      'plugins/signal/README.md',
      'plugins/imessage/README.md',
      'plugins/msteams/README.md',
      'docs/gmail.md',
      'plugins/gmail/README.md',
    ],
  },
  { title: 'Trust', pages: ['docs/trust.md', 'docs/boundary.md', 'SECURITY.md'] },
  {
    title: 'Running',
    pages: [
      'docs/operating.md',
      'docs/console.md',
      'docs/reload.md',
      'docs/replay.md',
      'docs/many-machines.md',
      'docs/benchmark.md',
    ],
  },
  { title: 'Recipes', pages: ['docs/recipes/'] },
  { title: 'Reference', pages: ['docs/reference/', 'CHANGELOG.md'] },
  {
    title: 'Contributing',
    pages: [
      'CONTRIBUTING.md',
      'ARCHITECTURE.md',
      'docs/writing-a-channel.md',
      'plugins/kit/README.md',
      'docs/decisions.md',
    ],
  },
]

/** Lists the files of a group that exist below `root`, in the order of the sidebar. */
export function pagesOf(root: string, group: Group): string[] {
  return group.pages.flatMap((page) => (page.endsWith('/') ? pagesBelow(root, page) : [page]))
}

function pagesBelow(root: string, folder: string): string[] {
  const pages = globSync(`${folder}**/*.md`, { cwd: root }).map((page) => page.replaceAll('\\', '/'))
  const isReadme = (page: string) => page.endsWith('/README.md')
  return [...pages.filter(isReadme), ...pages.filter((page) => !isReadme(page)).sort()]
}

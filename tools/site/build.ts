/** The job `npm run docs`: builds the site of the pages in `build/site`, and with `--serve` shows it. */

import { globSync } from 'node:fs'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { relay } from '../../runtime/bin/relay.js'
import { ensureInstalled } from '../install.js'
import { firstSentence, rewritePage, titleOf } from './markdown.ts'
import { addressOf, groups, names, otherPages, pagesOf } from './pages.ts'

interface End {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

interface Page {
  /** Relative to the root of the site, and ends with `.md`. */
  readonly address: string
  /** The name in the sidebar. */
  readonly name: string
  readonly text: string
}

const usage = `Usage: npm run docs -- [--serve] [--base /PATH/]
  --serve        shows the site on a port of this machine after it is built
  --base /PATH/  the path below which the site will be published (default: /)
`

/** @returns how VitePress ended, or code 2 if the arguments are wrong */
export async function docs(root: string, args: readonly string[]): Promise<End> {
  const options = readArguments(args)
  if (options === undefined) {
    process.stderr.write(usage)
    return { code: 2, signal: null }
  }
  const site = path.join(root, 'tools/site')
  await ensureInstalled(site)
  const built = await buildSite(root, options.base)
  if (built.code !== 0 || !options.serve) return built
  return vitePress(root, ['serve', site, '--base', options.base])
}

function readArguments(args: readonly string[]): { serve: boolean; base: string } | undefined {
  const options = { serve: false, base: '/' }
  for (let index = 0; index < args.length; index += 1) {
    const next = args[index + 1] ?? ''
    if (args[index] === '--serve') options.serve = true
    else if (args[index] === '--base' && /^\/(?:[\w.~-]+\/)*$/.test(next)) {
      options.base = next
      index += 1
    } else return undefined
  }
  return options
}

async function buildSite(root: string, base: string): Promise<End> {
  const sources = path.join(root, 'build/site-pages')
  const output = path.join(root, 'build/site')
  await rm(sources, { recursive: true, force: true })
  const { listed, others, files } = await readPages(root)
  const sidebar = listed.map(({ title, pages }) => ({
    text: title,
    items: pages.map(({ name, address }) => ({ text: name, link: `/${address}` })),
  }))
  await writeEach(sources, [
    ['site.json', JSON.stringify({ base, sidebar })],
    ...listed.flatMap(({ pages }) => pages).map((page) => [page.address, forVitePress(page)] as const),
    ...others.map((page) => [page.address, `---\nsearch: false\n---\n\n${page.text}`] as const),
  ])
  await mkdir(path.join(sources, 'public'))
  await cp(path.join(root, 'console/icon.svg'), path.join(sources, 'public/icon.svg'))
  for (const [file, address] of files)
    await cp(path.join(root, file), path.join(sources, 'public', address), { recursive: true })
  const built = await vitePress(root, ['build', path.join(root, 'tools/site')])
  if (built.code === 0) await writeEach(output, plainFiles(listed, others))
  return built
}

interface PagesOfGroup {
  readonly title: string
  readonly pages: readonly Page[]
}

async function readPages(root: string) {
  const inGroups = groups.map((group) => ({ title: group.title, files: pagesOf(root, group) }))
  const rest = otherPages(root)
  const all = [...inGroups.flatMap((group) => group.files), ...rest]
  const targets = {
    pages: new Map(all.map((file) => [file, addressOf(file)])),
    files: new Map(filesBeside(root).map((file) => [file, file.slice('docs/'.length)])),
  }
  const read = (files: readonly string[]) =>
    Promise.all(
      files.map(async (file): Promise<Page> => {
        const text = rewritePage(file, await readFile(path.join(root, file), 'utf8'), targets)
        return { address: addressOf(file), name: names[file] ?? nameOf(titleOf(text)), text }
      }),
    )
  const listed: PagesOfGroup[] = await Promise.all(
    inGroups.map(async ({ title, files }) => ({ title, pages: await read(files) })),
  )
  return {
    listed: listed.filter(({ pages }) => pages.length > 0),
    others: await read(rest),
    files: targets.files,
  }
}

/** Lists the files of `docs/` that pages link to for download. */
function filesBeside(root: string): string[] {
  return globSync('docs/**/*.*', { cwd: root })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !file.endsWith('.md'))
}

/** What titles begin with that the groups of the sidebar say already. */
const kinds = new Set(['Reference', 'Recipe', 'Tour'])

/** Shortens "Who answers: runners, conversations" to "Who answers", and "Reference: issues" or "Recipe: issues" to "Issues". */
function nameOf(title: string): string {
  const [first = '', ...rest] = title.split(': ')
  const name = kinds.has(first) ? rest.join(': ') : first
  return name.charAt(0).toUpperCase() + name.slice(1)
}

function forVitePress({ address, text }: Page): string {
  if (address !== 'index.md') return text
  const [, , tagline = '', ...body] = text.split('\n')
  const hero = { name: titleOf(text), tagline, image: '/icon.svg', actions }
  return `---\n${JSON.stringify({ layout: 'home', hero })}\n---\n${body.join('\n')}`
}

const actions = [
  { theme: 'brand', text: 'First steps', link: './start' },
  { theme: 'alt', text: 'Write mappings', link: './mappings' },
  { theme: 'alt', text: 'Who answers', link: './agents' },
]

/** Each page as Markdown, and the two files that language models read: https://llmstxt.org */
function plainFiles(listed: readonly PagesOfGroup[], others: readonly Page[]): [string, string][] {
  const all = listed.flatMap(({ pages }) => pages)
  const home = all.find((page) => page.address === 'index.md')?.text ?? ''
  const line = (page: Page) => {
    const sentence = firstSentence(page.text)
    return `- [${page.name}](${page.address})${sentence && `: ${sentence}`}\n`
  }
  const list = ({ title, pages }: PagesOfGroup) => `## ${title}\n\n${pages.map(line).join('')}\n`
  const optional = { title: 'Optional', pages: others }
  return [
    ...[...all, ...others].map((page): [string, string] => [page.address, page.text]),
    [
      'llms.txt',
      `# ${titleOf(home)}\n\n> ${firstSentence(home)}\n\n${[...listed, optional].map(list).join('')}`,
    ],
    ['llms-full.txt', all.map((page) => `<!-- ${page.address} -->\n\n${page.text.trim()}\n`).join('\n')],
  ]
}

async function writeEach(folder: string, files: readonly (readonly [string, string])[]): Promise<void> {
  for (const [name, text] of files) {
    const file = path.join(folder, name)
    await mkdir(path.dirname(file), { recursive: true })
    await writeFile(file, text)
  }
}

function vitePress(root: string, args: readonly string[]): Promise<End> {
  const program = path.join(root, 'tools/site/node_modules/vitepress/bin/vitepress.js')
  return relay(process.execPath, [program, ...args], { cwd: root })
}

/** Checks whether the repository can be released, prints what would be published, and publishes it where that is asked. */

import { execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { runNpm } from './npm.ts'
import { readWorkspaces, type Workspace } from './pack/description.ts'
import { type Packed, packWorkspaces } from './pack.ts'

/** Thrown where the repository is not ready. The message lists everything that is missing. */
export class ReleaseNotReady extends Error {
  readonly code = 'RELEASE_NOT_READY'
}

export interface Release {
  readonly version: string
  readonly tag: string
  readonly commit: string
  readonly changes: number
  /** In the order in which they can be published: each after the packages that it depends on. */
  readonly packages: readonly Packed[]
}

/**
 * The job `npm run release`. Without `--publish` it changes nothing but the folder `build/packages`.
 *
 * @throws ReleaseNotReady, PackFailed
 */
export async function release(root: string, args: readonly string[] = []): Promise<void> {
  const unknown = args.find((arg) => arg !== publishOption)
  if (unknown !== undefined)
    throw new ReleaseNotReady(`There is no option ${unknown}; ${publishOption} is one.`)
  const ready = await checkRelease(root)
  const { version, tag, commit, changes, packages } = ready
  const size = ({ bytes }: Packed) => `${(bytes / 1024).toFixed(1)} KB`.padStart(10)
  const isDry = !args.includes(publishOption)
  console.log(
    [
      `Ready to release ${version}.${isDry ? ' This was a dry run: nothing is published or tagged.' : ''}`,
      '',
      `The change log has ${changes} entries for this version.`,
      `The tag is ${tag}, at commit ${commit}.`,
      `These ${packages.length} packages ${isDry ? 'would' : 'will'} be published, in this order:`,
      ...packages.map((packed) => `  ${packed.name.padEnd(30)} ${version}${size(packed)}`),
      '',
      ...(isDry
        ? [
            'To release, push the tag: its workflow publishes the packages and the image.',
            `  git tag --sign ${tag} --message 'Reveille ${version}' && git push origin ${tag}`,
          ]
        : []),
    ].join('\n'),
  )
  if (!isDry) await publishRelease(ready, root)
}

const publishOption = '--publish'

function shown(words: readonly string[], root: string): string {
  const word = (text: string) => (path.isAbsolute(text) ? path.relative(root, text) : text)
  return words.map((text) => (text.includes(' ') ? JSON.stringify(text) : word(text))).join(' ')
}

/** Publishing's access to the world; a test replaces it. */
export interface Publishing {
  /** Runs a program in this terminal, because npm may ask for a one-time password. Rejects where it fails. */
  run(words: readonly string[]): Promise<void>
  /** True if the registry has this version of a package. */
  has(name: string, version: string): Promise<boolean>
}

/**
 * Publishes each package that the registry lacks.
 *
 * @throws ReleaseNotReady where a step fails. The command can be given again.
 */
export async function publishRelease(
  { packages, version }: Release,
  root: string,
  { run, has }: Publishing = realPublishing(root),
): Promise<void> {
  for (const { name, file } of packages) {
    if (await has(name, version)) {
      console.log(`${name} ${version} is published already.`)
      continue
    }
    const words = ['npm', 'publish', '--access', 'public', file]
    try {
      await run(words)
    } catch (cause) {
      const fix = 'Fix what it reports, and give the same command again: it goes on here.'
      throw new ReleaseNotReady(`This failed: ${shown(words, root)}\n${fix}`, { cause })
    }
  }
  console.log(`Published ${version}.`)
}

function realPublishing(root: string): Publishing {
  return {
    run: ([program = '', ...words]) =>
      new Promise((resolve, reject) => {
        const shell = process.platform === 'win32'
        const child = spawn(program, words, { cwd: root, stdio: 'inherit', shell })
        child.once('error', reject)
        child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`exit code ${code}`))))
      }),
    has: (name, version) =>
      runNpm(['view', `${name}@${version}`, 'version'], { cwd: root }).then(
        (found) => found.trim() !== '',
        () => false,
      ),
  }
}

/** `pack` packs every workspace that is not private. @throws ReleaseNotReady, PackFailed */
export async function checkRelease(
  root: string,
  pack: (root: string, folder: string) => Promise<readonly Packed[]> = packWorkspaces,
): Promise<Release> {
  const { version, repository } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  const tag = `v${version}`
  const workspaces = readWorkspaces(root)
  const changes = readChanges(readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8'), version)
  const problems = [
    ...changes.problems,
    ...(repository === undefined
      ? ['package.json has no "repository": npm compares it with the origin of a package.']
      : []),
    ...versionProblems(workspaces, version),
    ...(await gitProblems(root, tag)),
  ]
  if (problems.length > 0) {
    const list = problems.map((problem) => `- ${problem}`).join('\n')
    throw new ReleaseNotReady(`${version} is not ready to be released:\n${list}`)
  }
  const packed = await pack(root, path.join(root, 'build', 'packages'))
  const order = publishOrder(workspaces)
  const packages = packed.toSorted((one, other) => order.indexOf(one.name) - order.indexOf(other.name))
  const commit = await git(root, 'rev-parse', '--short', 'HEAD')
  return { version, tag, commit, changes: changes.entries, packages }
}

function readChanges(
  text: string,
  version: string,
): { readonly entries: number; readonly problems: readonly string[] } {
  const sections = new Map<string, number>()
  for (const section of text.split(/^## +/m).slice(1)) {
    const [heading = '', ...lines] = section.split('\n')
    sections.set(heading.trim().split(/\s/)[0] ?? '', lines.filter((line) => /^[-*] \S/.test(line)).length)
  }
  const entries = sections.get(version)
  const unreleased = sections.get('Unreleased') ?? 0
  return {
    entries: entries ?? 0,
    problems: [
      ...(entries === undefined ? [`CHANGELOG.md has no section "## ${version}".`] : []),
      ...(entries === 0 ? [`The section "## ${version}" of CHANGELOG.md has no entries.`] : []),
      ...(unreleased > 0
        ? [`CHANGELOG.md has ${unreleased} entries under "## Unreleased"; move them to "## ${version}".`]
        : []),
    ],
  }
}

function versionProblems(workspaces: readonly Workspace[], version: string): readonly string[] {
  return workspaces
    .filter(({ description }) => description.version !== version)
    .map(
      ({ folder, description }) =>
        `${folder}/package.json has version ${description.version}, and package.json has ${version}.`,
    )
}

async function gitProblems(root: string, tag: string): Promise<readonly string[]> {
  const changed = (await git(root, 'status', '--porcelain')).split('\n').filter(Boolean)
  const branch = await git(root, 'branch', '--show-current')
  const tagsHere = (await git(root, 'tag', '--points-at', 'HEAD')).split('\n')
  const isTagged = tagsHere.includes(tag)
  const isElsewhere = !isTagged && (await git(root, 'tag', '--list', tag)) !== ''
  return [
    ...(changed.length > 0 ? [`${changed.length} files are not committed; \`git status\` lists them.`] : []),
    ...(branch === 'main' || isTagged
      ? []
      : [`Releases are made from main, and this is ${branch || 'no branch'}.`]),
    ...(isElsewhere ? [`The tag ${tag} is at another commit; raise the version in every package.json.`] : []),
  ]
}

/** Each package after the packages that it depends on. */
function publishOrder(workspaces: readonly Workspace[]): readonly string[] {
  const byName = new Map(workspaces.map(({ description }) => [description.name, description]))
  const order = new Set<string>()
  const visit = (name: string) => {
    const description = byName.get(name)
    if (description === undefined || order.has(name)) return
    for (const dependency of Object.keys(description.dependencies ?? {})) visit(dependency)
    order.add(name)
  }
  for (const name of byName.keys()) visit(name)
  return [...order]
}

async function git(root: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('git', args, { cwd: root })
  return stdout.trim()
}

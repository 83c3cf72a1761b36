/** Checks whether the repository can be released, packs what is published, and prints the tag to push, whose workflow publishes it. */

import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { readWorkspaces } from './pack/description.ts'
import { pack } from './pack.ts'

/** Thrown where the repository is not ready. The message lists everything that is missing. */
export class ReleaseNotReady extends Error {
  readonly code = 'RELEASE_NOT_READY'
}

/** The job `npm run release`. It changes nothing but the folder `build/packages`. @throws ReleaseNotReady, PackFailed */
export async function release(root: string): Promise<void> {
  const tag = await checkRelease(root)
  await pack(root)
  console.log(`
Ready to release ${tag}. Nothing is published or tagged yet.
To release, push the tag: its workflow publishes the packages and the image.
  git tag --sign ${tag} --message 'Reveille ${tag}' && git push origin ${tag}`)
}

/** Returns the tag of the release. @throws ReleaseNotReady */
export async function checkRelease(root: string): Promise<string> {
  const { version, repository } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  const tag = `v${version}`
  const problems = [
    ...changeProblems(readFileSync(path.join(root, 'CHANGELOG.md'), 'utf8'), version),
    ...(repository === undefined
      ? ['package.json has no "repository": npm compares it with the origin of a package.']
      : []),
    ...readWorkspaces(root)
      .filter(({ description }) => description.version !== version)
      .map(
        ({ folder, description }) =>
          `${folder}/package.json has version ${description.version}, and package.json has ${version}.`,
      ),
    ...(await gitProblems(root, tag)),
  ]
  if (problems.length === 0) return tag
  const list = problems.map((problem) => `- ${problem}`).join('\n')
  throw new ReleaseNotReady(`${version} is not ready to be released:\n${list}`)
}

function changeProblems(text: string, version: string): readonly string[] {
  const sections = text.split(/^## +/m).map((section) => {
    const [heading = '', ...lines] = section.split('\n')
    return {
      name: heading.trim().split(/\s/)[0],
      entries: lines.filter((line) => /^[-*] \S/.test(line)).length,
    }
  })
  const entries = sections.find(({ name }) => name === version)?.entries
  const unreleased = sections.find(({ name }) => name === 'Unreleased')?.entries ?? 0
  return [
    ...(entries === undefined ? [`CHANGELOG.md has no section "## ${version}".`] : []),
    ...(entries === 0 ? [`The section "## ${version}" of CHANGELOG.md has no entries.`] : []),
    ...(unreleased > 0
      ? [`CHANGELOG.md has ${unreleased} entries under "## Unreleased"; move them to "## ${version}".`]
      : []),
  ]
}

async function gitProblems(root: string, tag: string): Promise<readonly string[]> {
  const git = async (...args: readonly string[]) =>
    (await promisify(execFile)('git', args, { cwd: root })).stdout.trim()
  const changed = (await git('status', '--porcelain')).split('\n').filter(Boolean)
  const branch = await git('branch', '--show-current')
  const isTagged = (await git('tag', '--points-at', 'HEAD')).split('\n').includes(tag)
  const isElsewhere = !isTagged && (await git('tag', '--list', tag)) !== ''
  return [
    ...(changed.length > 0 ? [`${changed.length} files are not committed; \`git status\` lists them.`] : []),
    ...(branch === 'main' || isTagged
      ? []
      : [`Releases are made from main, and this is ${branch || 'no branch'}.`]),
    ...(isElsewhere ? [`The tag ${tag} is at another commit; raise the version in every package.json.`] : []),
  ]
}

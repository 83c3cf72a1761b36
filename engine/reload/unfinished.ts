/**
 * Tells an edit from a file that is still being written. A writer that empties a file and fills it in parts leaves, for
 * a moment, the first part of the new text; one that renames or deletes first leaves nothing. Such a state loads, if
 * the part happens to be valid, so it has to stay unchanged for a while before it is believed.
 */

import { readFile } from 'node:fs/promises'
import type { Bundle } from '../transform/port.ts'
import type { CandidateSource } from './candidate.ts'
import { findChanges } from './changes.ts'

/** The end of a text that an edit usually leaves alone. In UTF-16 units. */
const tailLength = 64

/** True if `next` may be what a half-saved file makes of `live`: something is gone, or a text may be cut. */
export async function mayBeUnfinished(live: CandidateSource, next: CandidateSource): Promise<boolean> {
  const [before, after] = [live.configuration, next.configuration]
  const changes = findChanges(live, next)
  const { mappings, endpoints, transforms } = changes
  if (mappings.removed.length > 0 || endpoints.removed.length > 0) return true
  if (before.secrets.some((secret) => !after.secrets.includes(secret))) return true
  const texts = changedTexts(before.sources, after.sources)
  for (const module of transforms.changed)
    texts.push(...changedTexts(...(await sourcesOf(module, live, next))))
  const isAddition =
    mappings.changed.length + endpoints.changed.length + transforms.changed.length === 0 &&
    changes.settings.length === 0
  return texts.some(([old, text]) => (isAddition ? !endsLine(text) : mayBeCut(old, text)))
}

/** True if `text` may be the first part of what is being written in the place of `old`. Undefined: the file is new. */
export function mayBeCut(old: string | undefined, text: string): boolean {
  if (old !== undefined && text.endsWith(old.slice(-tailLength))) return false
  if (!endsLine(text)) return true
  if (old === undefined) return false
  // A change of the last lines alone that keeps their number.
  const isAtEnd = text.startsWith(old.slice(0, -tailLength))
  return !isAtEnd || old.split('\n').length !== text.split('\n').length
}

/** The same for texts by path, where no more is known: whether one vanished, or may be cut. */
export function textsMayBeUnfinished(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): boolean {
  const isGone = [...before.keys()].some((path) => !after.has(path))
  return isGone || changedTexts(before, after).some(([old, text]) => mayBeCut(old, text))
}

function endsLine(text: string): boolean {
  return text === '' || text.endsWith('\n')
}

function changedTexts(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): [old: string | undefined, text: string][] {
  return [...after].flatMap(([path, text]) => {
    const old = before.get(path)
    return old === text ? [] : [[old, text]]
  })
}

/** The source texts of a transform before and after, by path, from the source maps of its bundles. */
async function sourcesOf(
  module: string,
  ...sides: readonly [CandidateSource, CandidateSource]
): Promise<[ReadonlyMap<string, string>, ReadonlyMap<string, string>]> {
  const [before, after] = await Promise.all(sides.map(({ bundles }) => sourcesIn(bundles.get(module))))
  return [before ?? new Map(), after ?? new Map()]
}

async function sourcesIn(bundle: Bundle | undefined): Promise<ReadonlyMap<string, string>> {
  try {
    const map = JSON.parse(await readFile(`${bundle?.file}.map`, 'utf8')) as {
      sources: string[]
      sourcesContent: string[]
    }
    return new Map(map.sources.map((path, index) => [path, map.sourcesContent[index] ?? '']))
  } catch {
    // A bundle without a map is judged by what it does to the mappings alone.
    return new Map()
  }
}

/** Shows the files of kept generations, and how those of two differ, without the secrets in them. */

import { dirname, parse } from 'node:path'
import type { GenerationContent } from '@reveille/engine'
import { shownFile } from '@reveille/engine/text'
import type { AdminOptions } from './options.ts'
import type { Answer } from './routes/client.ts'

type GenerationFile = Answer<'readGenerationFile'>
type FileChange = Answer<'compareGenerations'>['files'][number]

/** In UTF-16 units. */
const maxTextLength = 256 * 1024
/** Of all texts of one answer, in UTF-16 units. */
const maxText = 4 * 1024 * 1024

type Parts = Pick<AdminOptions, 'current' | 'withoutSecrets'>

export function createGenerationFiles({ current, withoutSecrets }: Parts) {
  function identify(path: string): Omit<GenerationFile, 'text'> {
    return { path, name: shownFile({ file: path }, dirname(current().snapshot.settings.file)) }
  }

  return {
    /** Undefined: it holds no such file. `asked` is a path, a name, or `preset github`. */
    async find({ sources }: GenerationContent, asked: string): Promise<GenerationFile | undefined> {
      for (const [path, text] of sources) {
        const file = identify(path)
        if (path !== asked && file.name !== asked && `preset ${parse(path).name}` !== asked) continue
        return text.length > maxTextLength ? file : { ...file, text: await withoutSecrets(path, text) }
      }
      return undefined
    },

    async compare(one: GenerationContent, other: GenerationContent): Promise<readonly FileChange[]> {
      let left = maxText
      const changes: FileChange[] = []
      for (const path of differing(one.sources, other.sources)) {
        const [before, after] = [one.sources.get(path), other.sources.get(path)]
        const change = before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'
        const texts = [before, after].filter((text) => text !== undefined)
        left -= texts.reduce((sum, text) => sum + text.length, 0)
        const isCut = left < 0 || texts.some((text) => text.length > maxTextLength)
        changes.push({
          ...identify(path),
          change,
          ...(isCut
            ? { isCut }
            : {
                ...(before !== undefined && { before: await withoutSecrets(path, before) }),
                ...(after !== undefined && { after: await withoutSecrets(path, after) }),
              }),
        })
      }
      return changes
    },
  }
}

/** The paths of the files that are not the same in both, in order. */
function differing(one: GenerationContent['sources'], other: GenerationContent['sources']): string[] {
  const paths = new Set([...one.keys(), ...other.keys()])
  return [...paths].filter((path) => one.get(path) !== other.get(path)).sort()
}

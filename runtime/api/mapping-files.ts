/** Saves a mapping with its test in a file of `mappingsDir`: tried as a candidate first, written whole, and then live. */

import { createHash } from 'node:crypto'
import { lstat, mkdir, readFile, realpath } from 'node:fs/promises'
import { dirname, join, sep } from 'node:path'
import { isRecord } from '@reveille/engine'
import { createMutex } from '../mutex.ts'
import { NotEditable } from '../scaffold/parsed-text.ts'
import { entriesOf, putEntries, type WrittenEntry } from '../scaffold/put-entries.ts'
import { replaceFile } from '../scaffold/replace-file.ts'
import { refuse } from './errors.ts'
import type { Call, Handlers } from './handlers.ts'
import type { AdminOptions } from './options.ts'
import type { mappingFileRoutes } from './routes/mapping-files.ts'

type Save = Call<typeof mappingFileRoutes.saveMapping>

/** Number of stored requests that a dry run examines. */
const comparedRequests = 100

export function createMappingFileHandlers(options: AdminOptions): Handlers<typeof mappingFileRoutes> {
  const { current, reloader, archive, requestDryRuns, dryRun, withoutSecrets, isDraining } = options
  const mutex = createMutex()

  async function save({ body, query: { dryRun: isDry = false }, by, reply }: Save) {
    if (isDraining()) return refuse('DRAINING')
    const { file, mapping, test = '' } = body
    const pasted = await requestDryRuns.check(mapping)
    if (pasted.length > 0) {
      reply.code(409)
      return { file, saved: false, diagnostics: pasted }
    }
    const { settings } = current().snapshot
    const target = await targetIn(settings.hooks.mappingsDir, file)
    const before = await textOf(target)
    const digest = before === undefined ? undefined : digestOf(before)
    if (!isDry && digest !== body.digest) return refuseChanged(file)
    const after = edited(file, before ?? '', mapping, test)

    const tried = await dryRun(isDry ? comparedRequests : 0, { source: new Map([[target, after]]) })
    const answer = {
      file,
      ...(digest !== undefined && { digest }),
      ...(before !== undefined && { before: await withoutSecrets(target, before) }),
      after: await withoutSecrets(target, after),
    }
    reply.code(tried.reload.ok ? 200 : 409)
    if (isDry || !tried.reload.ok) return { ...answer, ...tried, saved: false }
    if ((await textOf(target)) !== before) return refuseChanged(file)
    await write(target, after, settings.file)
    const reload = await reloader.reload({ by })
    await archive.saved()
    reply.code(reload.ok ? 200 : 409)
    return { ...answer, saved: true, reload }
  }

  return {
    // One after the other, so that no change is lost between reading a file and replacing it.
    saveMapping: (call) => mutex.run('files', () => save(call)),
  }
}

/** The text of the file with the mapping and the test. @throws RequestError */
function edited(file: string, before: string, mapping: string, test: string): string {
  try {
    const mappings = entriesOf(mapping, 'mappings')
    const tests = test === '' ? [] : entriesOf(test, 'tests')
    refuseForeign(mappings, tests, before === '' ? [] : entriesOf(before, 'mappings'))
    return putEntries(putEntries(before, 'mappings', mappings), 'tests', tests)
  } catch (error) {
    if (!(error instanceof NotEditable)) throw error
    return refuse('WRONG_STATE', { sentence: `${file} cannot be changed here. ${error.message}` })
  }
}

/**
 * Limits what can be saved, since the client has a token and not the operator's account: a transform gets no variable and no file in a
 * new place, and a test reads none.
 */
function refuseForeign(
  mappings: readonly WrittenEntry[],
  tests: readonly WrittenEntry[],
  known: readonly WrittenEntry[],
): void {
  const refuseAt = (pointer: string, message: string): never =>
    refuse('INVALID_FIELD', { details: [{ pointer, message }] })
  for (const { value } of mappings) {
    const { id } = value
    if (typeof id !== 'string') refuseAt('/mapping', 'needs an `id`, by which it is found again')
    const old = known.find((each) => each.value['id'] === id)
    const kept = new Set(stringsIn(handedIn(old?.value)))
    if (stringsIn(value).some((text) => text.includes('[redacted]')))
      refuseAt('/mapping', 'holds `[redacted]` in the place of a secret: write the file yourself')
    if (stringsIn(handedIn(value)).some((text) => text.includes('${') && !kept.has(text)))
      refuseAt('/mapping', 'has a reference in `transform.with` that is new: write the file yourself')
  }
  for (const { value } of tests) {
    if (isRecord(value['request']) && 'bodyFile' in value['request'])
      refuseAt('/test', 'names a `bodyFile`: write it into the file yourself')
  }
}

/** The only place of a mapping where references are resolved. */
function handedIn(mapping: WrittenEntry['value'] = {}): unknown {
  return isRecord(mapping['transform']) ? mapping['transform']['with'] : undefined
}

/** Each string of a value with its path. */
function stringsIn(value: unknown, path = ''): string[] {
  if (typeof value === 'string') return [`${path} ${value}`]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => stringsIn(inner, `${path}/${key}`))
}

/** @throws RequestError where the file, or a folder above it, leads out of the folder of mapping files */
async function targetIn(folder: string, file: string): Promise<string> {
  const target = join(folder, file)
  const inner = await realpath(dirname(target)).catch(() => undefined)
  const root = await realpath(folder).catch(() => folder)
  const isInside =
    inner === undefined ? dirname(target) === folder : `${inner}${sep}`.startsWith(`${root}${sep}`)
  const found = await lstat(target).catch(() => undefined)
  if (isInside && (found === undefined || found.isFile())) return target
  const message = 'must be a file of the folder of mapping files, in a folder that exists, and no link'
  return refuse('INVALID_FIELD', { details: [{ pointer: '/file', message }] })
}

/** Undefined: there is none. @throws RequestError */
async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    return refuseUnwritable(error)
  }
}

async function write(file: string, text: string, ownerOf: string): Promise<void> {
  try {
    await mkdir(dirname(file), { recursive: true })
    await replaceFile(file, text, ownerOf)
  } catch (error) {
    refuseUnwritable(error)
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function refuseChanged(file: string): never {
  return refuse('WRONG_STATE', {
    sentence: `${file} has changed since it was shown: look at the change again.`,
  })
}

function refuseUnwritable(error: unknown): never {
  const { code = 'an error' } = error as NodeJS.ErrnoException
  return refuse('WRONG_STATE', { sentence: `The gateway cannot read or write this file (${code}).` })
}

/** Loads configurations of temporary folders, for tests of what is loaded and of what is reported. */

import assert from 'node:assert/strict'
import test, { type TestContext } from 'node:test'
import { parse } from 'yaml'
import { testBlocks } from './blocks-fixture.ts'
import type { Loaded } from './configuration.ts'
import type { Diagnostic } from './file/diagnostic.ts'
import type { Environment } from './file/load-context.ts'
import { createSampleFolder } from './folder-fixture.ts'
import { loadConfiguration } from './load.ts'
import { isRecord } from './values/is-record.ts'

/** Contents by name. A text alone is the configuration, which is otherwise `hooks: {}`. Presets are in `shipped/`. */
export type Files = Readonly<Record<string, string | Uint8Array>> | string

export async function load(context: TestContext, files: Files, env: Environment = {}) {
  const given = typeof files === 'string' ? { 'reveille.yaml': files } : files
  const isConfigured = Object.keys(given).some((name) => name.startsWith('reveille.yaml'))
  const written = isConfigured ? given : { 'reveille.yaml': 'hooks: {}\n', ...given }
  const folder = await createSampleFolder(context, written)
  const options = { file: folder.at('reveille.yaml'), env, presets: folder.at('shipped') }
  return { folder, loaded: await loadConfiguration(options) }
}

export async function loadGood(context: TestContext, files: Files, env?: Environment) {
  const { folder, loaded } = await load(context, files, env)
  if (!loaded.ok) assert.fail(JSON.stringify(loaded.diagnostics, null, 2))
  return { folder, ...loaded.configuration }
}

export async function loadBad(
  context: TestContext,
  files: Files,
  env?: Environment,
): Promise<readonly Diagnostic[]> {
  const { loaded } = await load(context, files, env)
  assert.ok(!loaded.ok, 'this should not load')
  return loaded.diagnostics
}

/** Returns errors and warnings. */
export async function diagnose(
  context: TestContext,
  files: Files,
  env?: Environment,
): Promise<readonly Diagnostic[]> {
  return diagnosticsOf((await load(context, files, env)).loaded)
}

function diagnosticsOf(loaded: Loaded): readonly Diagnostic[] {
  return loaded.ok ? loaded.configuration.warnings : loaded.diagnostics
}

export async function onlyOne(context: TestContext, files: Files, env?: Environment): Promise<Diagnostic> {
  const [first, ...rest] = await diagnose(context, files, env)
  assert.ok(first && rest.length === 0, JSON.stringify([first, ...rest]))
  return first
}

/** Returns `CODE line:column` of each, in order. */
export function summary(diagnostics: readonly Diagnostic[]): string[] {
  return diagnostics.map(({ code, place }) => `${code} ${place?.line}:${place?.column}`)
}

/**
 * Registers one test for each title of a table, a line that begins with `#`; the lines below it are its cases:
 * `text @ variables ⇒ expected`, the last two as YAML. `wrap` makes files of the text, in which `⏎` is a line break and `␍` a carriage return; by default it is
 * the configuration, and other files follow ` || `: `mappings/a.yaml: …`. Expected are parts of what is loaded, as {@link fits}
 * compares them; `{folder}` is the folder.
 */
export function testLoads(table: string, wrap: (text: string) => Files = filesOf): void {
  testBlocks(table, async (row, context) => {
    const [, text = '', env = '{}', expected = ''] = /^(.*?)(?: @ (\{[^⇒]*\}))? ⇒ (.*)$/.exec(row) ?? []
    const files = wrap(text.replaceAll('␍', '\r').replaceAll('⏎', '\n'))
    const { folder, locate, sources, ...configuration } = await loadGood(context, files, parse(env))
    const found = { ...configuration, warnings: configuration.warnings.map(({ code }) => code) }
    fits(parse(expected), JSON.parse(JSON.stringify(found).replaceAll(folder.path, '{folder}')), row)
  })
}

/** Makes files of a text, as {@link testLoads} does by default. */
export function filesOf(text: string): Files {
  const parts = text
    .split(' || ')
    .map((part) => /^([\w./-]+\.\w+|\.env): (.*)$/s.exec(part) ?? ['', 'reveille.yaml', part])
  return Object.fromEntries(parts.map(([, name, content]) => [name, `${content}\n`]))
}

type Wanted = Readonly<Record<string, unknown>>

/** A `null` expects nothing, a text between slashes a match, a list as many items, and a map those of its keys. */
export function fits(expected: unknown, actual: unknown, what: string): void {
  if (expected === null) assert.ok(actual === undefined || actual === null, what)
  else if (typeof expected === 'string' && /^\/.+\/$/s.test(expected))
    assert.match(String(actual), new RegExp(expected.slice(1, -1), 's'), what)
  else if (Array.isArray(expected)) {
    assert.ok(
      Array.isArray(actual) && actual.length === expected.length,
      `${JSON.stringify(actual)} in ${what}`,
    )
    for (const [index, each] of expected.entries()) fits(each, actual[index], what)
  } else if (isRecord(expected)) {
    for (const [key, each] of Object.entries(expected))
      fits(each, (actual as Wanted)?.[key], `${key} of ${what}`)
  } else if (expected !== undefined) assert.equal(actual, expected, what)
}

/** Returns a value as JSON has it. */
export function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}

/**
 * Registers one test for each line of a table: the codes of all findings, the text, and perhaps ` => ` and a part of the
 * hints. In the files that the wrap of its title (`# title`) makes of the text, `§` marks the place of each finding, in the order of the codes, and
 * `⏎` is a line break. A code with `~` is that of a warning; texts with the same codes may share a line: `CODE one ¦ other`; a line that begins with `ok` has no finding. No finding shows what is hidden.
 */
export function testTables(
  wraps: Readonly<Record<string, (text: string) => Files>>,
  table: string,
  hidden: readonly string[] = [],
) {
  let title = ''
  for (const row of table.trim().split('\n')) {
    if (row.startsWith('# ')) title = row.slice(2)
    else {
      const [, codes = '', texts = ''] = /^(\S+ +)(.*)$/.exec(row) ?? []
      for (const text of texts.split(' ¦ '))
        registerRow(title, wraps[title] ?? assert.fail(title), codes + text, hidden)
    }
  }
}

function registerRow(title: string, wrap: (text: string) => Files, row: string, hidden: readonly string[]) {
  const [, codes = '', text = '', advice = ''] = /^\s*(\S+)\s+(.*?)(?: => (.*))?$/.exec(row) ?? []
  test(`${title}: ${row.trim()}`, async (context) => {
    const wrapped = wrap(text.replaceAll('␍', '\r').replaceAll('⏎', '\n'))
    const marked = typeof wrapped === 'string' ? { 'reveille.yaml': wrapped } : wrapped
    const files = Object.entries(marked).map(([name, content]) => [name, `${content}`] as const)
    const places = files.flatMap(([name, content]) => placesIn(name, content))
    const clean = files.map(([name, content]) => [name, content.replaceAll('§', '')])
    const { folder, loaded } = await load(context, Object.fromEntries(clean))
    const diagnostics = diagnosticsOf(loaded)
    const found = diagnostics.map(({ severity, code, place }) => {
      const file = place?.file.slice(folder.path.length + 1)
      return `${severity === 'warning' ? '~' : ''}${code} ${file}:${place?.line}:${place?.column}`
    })
    const wanted = codes === 'ok' ? [] : codes.split('+').map((code, index) => `${code} ${places[index]}`)
    assert.deepEqual(found.toSorted(), wanted.toSorted())
    const hints = diagnostics.map(({ message, hint }) => `${message} ${hint}`).join('\n')
    assert.ok(hints.includes(advice), `${hints} does not say: ${advice}`)
    for (const secret of hidden)
      assert.ok(!JSON.stringify(diagnostics).includes(secret), `${secret} is shown`)
  })
}

function placesIn(name: string, content: string): string[] {
  return content
    .replace(/^\ufeff/, '')
    .split('\n')
    .flatMap((line, index) => {
      const columns = [...line.matchAll(/§/g)].map(({ index }, before) => index - before + 1)
      return columns.map((column) => `${name}:${index + 1}:${column}`)
    })
}

/** Tests that the reference pages list exactly what the code has: error codes, routes, commands and npm scripts. */

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { helpers } from '../engine/compile/template/helpers.ts'
import { routes } from '../runtime/api/routes/index.ts'
import { createProgram } from '../runtime/cli/cli.ts'
import { processIo } from '../runtime/cli/io.ts'
import { setupRows } from '../runtime/cli/webhooks/commands.ts'
import { renderErrorTable } from '../runtime/http/errors.ts'
import { renderIssueTable } from '../runtime/issues/index.ts'

const root = join(import.meta.dirname, '..')
const http = await readFile(join(root, 'docs/reference/http.md'), 'utf8')
const api = await readFile(join(root, 'docs/reference/api.md'), 'utf8')
const commands = await readFile(join(root, 'docs/reference/commands.md'), 'utf8')
const issues = await readFile(join(root, 'docs/reference/issues.md'), 'utf8')
const mappings = await readFile(join(root, 'docs/mappings.md'), 'utf8')
const contributing = await readFile(join(root, 'CONTRIBUTING.md'), 'utf8')

test('docs/reference/http.md lists exactly the error codes of the table of errors', () => {
  assertSame(rowsOf(section(http, 'error-codes')), rowsOf(renderErrorTable()))
})

test('docs/reference/issues.md lists exactly the codes of issues', () => {
  assertSame(rowsOf(section(issues, 'codes')), rowsOf(renderIssueTable()))
})

test('docs/reference/api.md lists exactly the routes of the admin API', () => {
  const declared = Object.values(routes).map(({ method, path }) => `${method} /api${path}`)
  const documented = rowsOf(section(api, 'routes')).map((row) => /^\| `([^`]+)`/.exec(row)?.[1] ?? row)
  assertSame(documented, declared)
})

test('docs/mappings.md lists exactly the helpers of templates', () => {
  const table = section(mappings, 'helpers')
  const named = [...table.matchAll(/\{\{#?(\w+) |\((\w+) |`(\w+)`/g)].map(([, ...names]) => names.join(''))
  const blocks = ['if', 'unless', 'each', 'with']
  assertSame(
    [...new Set(named)].filter((name) => !blocks.includes(name)),
    Object.keys(helpers),
  )
})

test('docs/reference/commands.md lists exactly the commands of the command line', () => {
  const program = createProgram(processIo(), { exitCode: 0 }, setupRows())
  const documented = rowsOf(section(commands, 'commands')).flatMap((row) =>
    [...(row.split(' | ')[0] ?? '').matchAll(/`([a-z][a-z ]*)[^`]*`/g)].map(([, name = '']) => name.trim()),
  )
  assertSame(documented, commandsBelow(program))
})

test('CONTRIBUTING.md lists exactly the npm scripts', async () => {
  const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  const documented = rowsOf(section(contributing, 'scripts')).map((row) =>
    (/^\| `npm (?:run )?([\w:]+)`/.exec(row)?.[1] ?? row).trim(),
  )
  assertSame(documented, Object.keys(scripts))
})

type Command = ReturnType<typeof createProgram>

/** A command that only groups others, such as `store`, has no action of its own and is not listed. */
function commandsBelow(command: Command, path = ''): string[] {
  return command.commands.flatMap((below) => {
    const name = `${path}${below.name()}`
    const groups = below.commands.length > 0 && !groupsWithAction.has(name)
    return [...(groups ? [] : [name]), ...commandsBelow(below, `${name} `)]
  })
}

const groupsWithAction = new Set(['init', 'route', 'doctor'])

function assertSame(documented: readonly string[], actual: readonly string[]): void {
  assert.ok(actual.length > 0)
  assert.deepEqual(
    actual.filter((each) => !documented.includes(each)),
    [],
    'the page lacks these',
  )
  assert.deepEqual(
    documented.filter((each) => !actual.includes(each)),
    [],
    'the page has these, the code does not',
  )
  assert.equal(new Set(documented).size, documented.length, 'the page has one twice')
}

/** Returns the text between `<!-- NAME:start -->` and `<!-- NAME:end -->`. */
function section(page: string, name: string): string {
  const found = page.split(`<!-- ${name}:start -->`)[1]?.split(`<!-- ${name}:end -->`)
  assert.ok(found?.length === 2, `the page has no section ${name}`)
  return found[0] ?? ''
}

function rowsOf(table: string): string[] {
  return table.split('\n').filter((line) => line.startsWith('| `'))
}

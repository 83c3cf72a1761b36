/** The exact text that a stranger reads after the slips of the first minutes at the command line. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Io } from '../../runtime/cli/io.ts'
import { createCommandLine } from '../../runtime/cli/io-fixture.ts'

interface Slip {
  /** What the person did, as a sentence. */
  readonly name: string
  readonly files?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  readonly columns?: number
  readonly args: readonly string[]
  readonly code: number
  /** Whole, where it is a text. */
  readonly out?: string | RegExp
  readonly err?: string | RegExp
}

const empty = '{}\n'

const slips: readonly Slip[] = [
  {
    name: 'the one local/reveille.yaml is found without being named',
    files: { 'local/reveille.yaml': empty },
    args: ['check'],
    code: 0,
    out: 'local/reveille.yaml is good: 0 mappings.\n',
  },
  {
    name: 'the configuration of this folder goes before that in local',
    files: { 'reveille.yaml': empty, 'local/reveille.yaml': 'nonsense: 1\n' },
    args: ['check'],
    code: 0,
    out: 'reveille.yaml is good: 0 mappings.\n',
  },
  {
    name: 'REVEILLE_CONFIG names a configuration',
    files: { 'etc/gateway.yaml': empty, 'reveille.yaml': 'nonsense: 1\n' },
    env: { REVEILLE_CONFIG: 'etc/gateway.yaml' },
    args: ['check'],
    code: 0,
    out: 'etc/gateway.yaml is good: 0 mappings.\n',
  },
  {
    name: 'REVEILLE_CONFIG names a file that is not there',
    env: { REVEILLE_CONFIG: 'etc/gateway.yaml' },
    args: ['check'],
    code: 2,
    err: 'There is no etc/gateway.yaml, which REVEILLE_CONFIG names.\n',
  },
  {
    name: '--config names the folder of a configuration',
    files: { 'etc/reveille.yaml': empty },
    args: ['check', '--config', 'etc'],
    code: 0,
    out: 'etc/reveille.yaml is good: 0 mappings.\n',
  },
  {
    name: '--config names a folder without a configuration',
    files: { 'etc/other.yaml': empty },
    args: ['check', '--config', 'etc'],
    code: 2,
    err: 'There is no reveille.yaml in etc. Write a first one: reveille init etc\n',
  },
  {
    name: 'there is no configuration anywhere',
    args: ['check'],
    code: 2,
    err: 'There is no reveille.yaml in this folder, nor in local.\nName one with --config FILE or REVEILLE_CONFIG, or write a first one: reveille init\n',
  },
  {
    name: '--port is no port',
    files: { 'reveille.yaml': empty },
    args: ['start', '--port', '80000'],
    code: 2,
    err: '--port must be a whole number from 0 to 65535; 0 takes a free port.\n',
  },
  {
    name: 'REVEILLE_PORT is no port',
    files: { 'reveille.yaml': empty },
    env: { REVEILLE_PORT: 'http' },
    args: ['start'],
    code: 2,
    err: 'REVEILLE_PORT must be a whole number from 0 to 65535; 0 takes a free port.\n',
  },
  {
    name: 'init mapping takes the name of a file that the scaffold wrote',
    files: { 'local/reveille.yaml': empty, 'local/mappings/github.yaml': 'mappings: []\n' },
    columns: 80,
    args: ['init', 'mapping', 'github'],
    code: 1,
    err:
      'local/mappings/github.yaml is there, and is another text than the preset;\n' +
      'nothing was written. To have the preset beside it: reveille init mapping github\n' +
      '--as my-github\n',
  },
  {
    name: 'init mapping without a name lists the presets',
    args: ['init', 'mapping'],
    code: 0,
    out: /^There are .*, github, .*\.\n\nCopy one, to edit: reveille init mapping \w+\n$/,
  },
]

for (const { name, files = {}, env = {}, columns, args, code, out = '', err = '' } of slips) {
  test(`${name}: \`reveille ${args.join(' ')}\``, async (t) => {
    const world: Partial<Io> = { env: { NO_COLOR: '1', ...env }, ...(columns !== undefined && { columns }) }
    const line = await createCommandLine(t, files, world)
    const answer = await line.run(...args)
    const shown = (text: string) => text.replaceAll(line.cwd, '{folder}')
    for (const [actual, expected] of [
      [shown(answer.out), out],
      [shown(answer.err), err],
    ] as const) {
      if (typeof expected === 'string') assert.equal(actual, expected)
      else assert.match(actual, expected)
    }
    assert.equal(answer.code, code)
  })
}

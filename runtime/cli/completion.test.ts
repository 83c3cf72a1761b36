import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmod, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { createCommandLine } from './io-fixture.ts'

/** Each shell asks for what follows these words, and prints the offers one a line. */
const askers = {
  bash: (file: string, words: readonly string[]) => [
    '-c',
    `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _reveille; printf '%s\\n' "\${COMPREPLY[@]}"`,
    'bash',
    file,
    ...words,
  ],
  // The functions of the completion system print what they are given.
  zsh: (file: string, words: readonly string[]) => [
    '-f',
    '-c',
    `compdef() { :; }; _files() { :; }; compadd() { shift; print -l -- "$@"; }
_describe() { print -l -- "\${(@)\${(P@)2}%%:*}"; }
source $1; shift; words=("$@"); CURRENT=$#; _reveille`,
    'zsh',
    file,
    ...words,
  ],
  fish: (file: string, words: readonly string[]) => [
    '-c',
    `source ${file}; complete -C '${words.join(' ')}' | string split -f1 \\t`,
  ],
} as const

const launcher = path.join(import.meta.dirname, '../bin/reveille.js')

const isInstalled = (shell: string) => spawnSync(shell, ['-c', 'true']).error === undefined

const unless = (shell: string) => ({ skip: isInstalled(shell) ? false : `${shell} is not installed` })

async function write(t: TestContext, shell: string): Promise<string> {
  const { run, cwd } = await createCommandLine(t, {})
  const { code, out, err } = await run('completion', shell)
  assert.deepEqual([code, err], [0, ''])
  const file = path.join(cwd, `reveille.${shell}`)
  await writeFile(file, out)
  // The script asks the program that is completed.
  const program = path.join(cwd, 'reveille')
  await writeFile(program, `#!/bin/sh\nexec "${process.execPath}" "${launcher}" "$@"\n`)
  await chmod(program, 0o755)
  return file
}

for (const shell of ['bash', 'zsh', 'fish'] as const) {
  test(`${shell} asks the program what fits`, unless(shell), async (t) => {
    const file = await write(t, shell)
    function offered(...words: readonly string[]): readonly string[] {
      const env = { ...process.env, PATH: `${path.dirname(file)}:${process.env['PATH']}` }
      const { stdout, stderr } = spawnSync(shell, askers[shell](file, words), { encoding: 'utf8', env })
      assert.equal(stderr, '', words.join(' '))
      return stdout.split('\n').filter((line) => line !== '' && line.startsWith(words.at(-1) ?? ''))
    }
    assert.deepEqual(offered('reveille', 'requ'), ['requests'])
    assert.deepEqual(offered('reveille', 'no-such', '--nothing'), [])
  })
}

test('commands, options and their values are offered', async (t) => {
  const { run } = await createCommandLine(t, {})
  for (const [words, expected] of [
    ['requ', 'requests'],
    ['store ', 'backup export import help'],
    ['store backup --he', '--help'],
    ['list map', 'mappings'],
    ['requests --outco', '--outcome'],
    ['requests --outcome ign', 'ignored'],
    ['runs --limit 5 --kind heart', 'heartbeat'],
    ['runs --session-key ', ''],
    ['completion ', 'bash zsh fish'],
    ['no-such --nothing', ''],
  ] as const) {
    const { code, out } = await run('__complete', ...words.split(' '))
    const names = out.split('\n').map((line) => line.split('\t')[0])
    assert.deepEqual([code, names.join(' ').trim()], [0, expected], words)
  }
})

test('zsh reads the script and defines the completion', unless('zsh'), async (t) => {
  const file = await write(t, 'zsh')
  const script = 'autoload -Uz compinit && compinit -D -u; source $1; print ${_comps[reveille]}'
  const { stdout, stderr, status } = spawnSync('zsh', ['-f', '-c', script, 'zsh', file], { encoding: 'utf8' })
  assert.deepEqual([stdout.trim(), stderr, status], ['_reveille', '', 0])
})

test('an unknown shell is refused, and --json holds the script', async (t) => {
  const { run } = await createCommandLine(t, {})
  const { out } = await run('completion', 'fish')
  assert.equal(JSON.parse((await run('completion', 'fish', '--json')).out).script, out)
  const { code, err } = await run('completion', 'tcsh')
  assert.equal(code, 2)
  assert.match(err, /bash, zsh, fish/)
})

test('a completion and a help load neither the engine nor the packages of plugins', () => {
  const preload = `import { registerHooks } from 'node:module'
    registerHooks({ load(url, context, next) { console.error(url); return next(url, context) } })`
  for (const words of [
    ['__complete', 'sta'],
    ['__complete', 'runs', '--st'],
    ['--help'],
    ['status', '--help'],
  ]) {
    const preloaded = `data:text/javascript,${encodeURIComponent(preload)}`
    const ran = spawnSync(process.execPath, ['--import', preloaded, launcher, ...words], { timeout: 30_000 })
    const [stdout, stderr] = [String(ran.stdout), String(ran.stderr)]
    assert.match(stdout, /sta|queued|Usage/)
    assert.match(stderr, /\/cli\/commands\.ts/)
    assert.doesNotMatch(stderr, /\/engine\/(compile|index)|\/(jsonata|handlebars|ajv|yaml)\/|\/plugins\//)
  }
})

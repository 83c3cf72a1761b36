import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
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

const isInstalled = (shell: string) => spawnSync(shell, ['-c', 'true']).error === undefined

const unless = (shell: string) => ({ skip: isInstalled(shell) ? false : `${shell} is not installed` })

async function write(t: TestContext, shell: string): Promise<string> {
  const { run, cwd } = await createCommandLine(t, {})
  const { code, out, err } = await run('completion', shell)
  assert.deepEqual([code, err], [0, ''])
  const file = path.join(cwd, `reveille.${shell}`)
  await writeFile(file, out)
  return file
}

for (const shell of ['bash', 'zsh', 'fish'] as const) {
  test(`${shell} completes commands, options and their values`, unless(shell), async (t) => {
    const file = await write(t, shell)
    function offered(...words: readonly string[]): readonly string[] {
      const { stdout, stderr } = spawnSync(shell, askers[shell](file, words), { encoding: 'utf8' })
      assert.equal(stderr, '', words.join(' '))
      return stdout.split('\n').filter((line) => line !== '' && line.startsWith(words.at(-1) ?? ''))
    }
    assert.deepEqual(offered('reveille', 'requ'), ['requests'])
    assert.ok(['status', 'tail', 'completion'].every((name) => offered('reveille', '').includes(name)))
    assert.deepEqual(offered('reveille', 'store', ''), [
      ...['backup', 'export', 'import', 'help'],
      ...(shell === 'fish' ? [] : ['--help', '-h']),
    ])
    assert.ok(offered('reveille', 'requests', '--out').includes('--outcome'))
    const outcomes = offered('reveille', 'requests', '--outcome', '')
    assert.ok(outcomes.includes('ignored') && !outcomes.includes('--json'), String(outcomes))
    assert.deepEqual(offered('reveille', 'requests', '--outcome', 'ign'), ['ignored'])
    assert.deepEqual(offered('reveille', 'runs', '--limit', '5', '--kind', 'heart'), ['heartbeat'])
    assert.ok(offered('reveille', 'completion', '').includes('zsh'))
    assert.deepEqual(offered('reveille', 'no-such', '--nothing'), [])
  })
}

test('zsh reads the script and defines the completion', unless('zsh'), async (t) => {
  const file = await write(t, 'zsh')
  const script = 'autoload -Uz compinit && compinit -D -u; source $1; print ${_comps[reveille]}'
  const { stdout, stderr, status } = spawnSync('zsh', ['-f', '-c', script, 'zsh', file], { encoding: 'utf8' })
  assert.deepEqual([stdout.trim(), stderr, status], ['_reveille', '', 0])
})

test('every shell is given every command, and an unknown one is refused', async (t) => {
  const { run } = await createCommandLine(t, {})
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { out } = await run('completion', shell)
    for (const name of ['init mapping', 'store backup', 'webhooks gmail setup', 'tail'])
      assert.ok(out.includes(name), name)
    const { script } = JSON.parse((await run('completion', shell, '--json')).out)
    assert.equal(script, out)
  }
  const { code, err } = await run('completion', 'tcsh')
  assert.equal(code, 2)
  assert.match(err, /bash, zsh, fish/)
})

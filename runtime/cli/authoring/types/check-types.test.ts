import assert from 'node:assert/strict'
import { symlink } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { createCommandLine } from '../../io-fixture.ts'

const reveille =
  'hooks: { enabled: false, mappings: [{ id: a, match: { path: a }, transform: { module: a.ts } }] }\n'

const good = `import { defineTransform, prompt } from '@reveille/engine/transform'
export default defineTransform<{ title: string }>(({ payload }) => ({ message: prompt\`\${payload.title}\` }))
`

test('a type error is told at its line, with its reason, and is no error of plain checking', async (t) => {
  const { run } = await createCommandLine(t, {
    'reveille.yaml': reveille,
    'transforms/a.ts': good,
    'transforms/deep/a.test.ts': `import { test } from 'node:test'
type Deep = { a: { b: string } }
test('it holds', () => {})
const é: Deep = JSON.parse('{}') as { a: { b: number } }
`,
  })
  const { code, err, out } = await run('check', '--types')
  assert.equal(code, 1)
  assert.equal(out, '')
  const [place, line, caret, hint] = err.split('\n')
  assert.match(
    place ?? '',
    /^transforms\/deep\/a\.test\.ts:4:7: error: Type '.*' is not assignable to type 'Deep'\. \[TS2322\]$/,
  )
  assert.equal(line, "  4 | const é: Deep = JSON.parse('{}') as { a: { b: number } }")
  assert.equal(caret, '    |       ^')
  assert.match(hint ?? '', /^ {2}hint: The types of 'a\.b' are incompatible/)
  assert.match(err, /^reveille\.yaml: 1 error\.$/m)
})

test('as JSON each error has its place', async (t) => {
  const { run, cwd } = await createCommandLine(t, {
    'reveille.yaml': reveille,
    'transforms/a.ts': `${good}\nconst text: string = 1`,
  })
  const { code, out } = await run('check', '--types', '--json')
  assert.equal(code, 1)
  const { ok, diagnostics } = JSON.parse(out)
  assert.equal(ok, false)
  assert.deepEqual(diagnostics.at(-1), {
    severity: 'error',
    code: 'TS2322',
    message: "Type 'number' is not assignable to type 'string'.",
    place: { file: path.join(cwd, 'transforms/a.ts'), line: 4, column: 7, text: 'const text: string = 1' },
  })
})

test('transforms that are sound are good, far from any package', async (t) => {
  const { run } = await createCommandLine(t, {
    'reveille.yaml': reveille,
    'transforms/a.ts': good,
    'transforms/plain.cjs': 'module.exports = (a) => a.b',
  })
  const { code, out, err } = await run('check', '--types')
  assert.match(out, /^reveille\.yaml is good: 1 mapping, and the types of its transforms\.$/m, err)
  assert.equal(code, 0)
})

test('the tsconfig.json of the folder says how strictly, and which files besides the modules of mappings', async (t) => {
  const { run, write } = await createCommandLine(t, {
    'reveille.yaml': reveille,
    'transforms/a.ts': `import { shout } from '~/shout'\nexport default (context) => shout(context)`,
    'transforms/lib/shout.ts': 'export const shout = (text) => text.unknown',
    'transforms/left-out.ts': 'const text: string = 1',
    'transforms/tsconfig.json': JSON.stringify({
      compilerOptions: {
        strict: false,
        module: 'esnext',
        moduleResolution: 'bundler',
        paths: { '~/*': ['./lib/*'] },
      },
      include: ['lib'],
    }),
  })
  assert.equal((await run('check', '--types')).code, 0)
  await write('transforms/tsconfig.json', '{ "compilerOptions": { "stric": true } }')
  const { code, err } = await run('check', '--types')
  assert.equal(code, 1)
  assert.match(err, /^transforms\/tsconfig\.json:1:24: error: Unknown compiler option 'stric'/m)
})

test('the compiler that is installed for the folder is asked before ours, and one that is broken is named', async (t) => {
  const { run, write } = await createCommandLine(t, {
    'reveille.yaml': reveille,
    'transforms/a.ts': good,
    'transforms/node_modules/typescript/package.json': '{"bin":{"tsc":"./tsc.js"}}',
    'transforms/node_modules/typescript/tsc.js': `
      if (!process.argv.includes('--showConfig')) console.log('a.ts(2,3): error TS1: asked the other')
      process.exitCode = 1`,
  })
  const { code, err } = await run('check', '--types')
  assert.equal(code, 1)
  assert.match(err, /^transforms\/a\.ts:2:3: error: asked the other \[TS1\]$/m)
  await write('transforms/node_modules/typescript/tsc.js', 'throw new Error("broken")')
  const broken = await run('check', '--types')
  assert.equal(broken.code, 1)
  assert.match(broken.err, /^The compiler .*\/tsc\.js failed:\n.*\n.*throw new Error\("broken"\)/m)
})

test('a folder that is a link is called by its own name', async (t) => {
  const { run, cwd } = await createCommandLine(t, {
    'reveille.yaml': reveille,
    'elsewhere/a.ts': 'const text: string = 1',
  })
  await symlink(path.join(cwd, 'elsewhere'), path.join(cwd, 'transforms'))
  assert.match((await run('check', '--types')).err, /^transforms\/a\.ts:1:7: error/m)
})

test('without transforms there is nothing to check', async (t) => {
  const { run } = await createCommandLine(t, { 'reveille.yaml': '{}\n' })
  assert.equal((await run('check', '--types')).code, 0)
})

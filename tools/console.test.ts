import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { watchConsole } from './console.js'

test('while it is worked on, the console is built again when a source or its page changes', {
  timeout: 60_000,
}, async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'reveille-console-'))
  t.after(() => rmSync(root, { recursive: true }))
  mkdirSync(join(root, 'console'))
  const write = (name: string, text: string) => writeFileSync(join(root, 'console', name), text)
  write('main.tsx', "import './main.css'\ndocument.title = 'one'\n")
  write('main.css', 'p { margin: 0 }\n')
  write('icon.svg', '<svg/>')
  write('index.html', 'first __SCRIPT__ __STYLE__ __ICON__\n')
  write('tsconfig.json', '{}')
  let written = Promise.withResolvers<void>()
  const watched = await watchConsole(root, () => written.resolve())
  t.after(() => watched.dispose())
  const built = join(root, 'build', 'console')
  const page = () => readFileSync(join(built, 'index.html'), 'utf8')
  const scripts = () =>
    readdirSync(join(built, 'assets'))
      .filter((name) => /^main-.*\.js$/.test(name))
      .map((name) => readFileSync(join(built, 'assets', name), 'utf8'))
  /** Changes a file, and resolves once what follows from it says so. */
  async function change(name: string, text: string, shows: () => boolean): Promise<void> {
    write(name, text)
    while (!shows()) {
      await written.promise
      written = Promise.withResolvers()
    }
  }

  assert.match(page(), /^first main-\w+\.js main-\w+\.css icon-\w+\.svg\n$/)
  await change('main.tsx', "import './main.css'\ndocument.title = 'two'\n", () =>
    scripts().some((text) => text.includes('two')),
  )
  await change('index.html', 'second __SCRIPT__ __STYLE__ __ICON__\n', () => page().startsWith('second'))
})

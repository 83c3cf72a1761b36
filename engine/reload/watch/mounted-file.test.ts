/** Tests a single file that is mounted by itself, in a mount namespace of its own where the machine allows one. */

import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rename, writeFile } from 'node:fs/promises'
import test from 'node:test'
import { createSampleFolder } from '../../config/folder-fixture.ts'

/** Either right is enough: root's, or that of a user who may make user namespaces. */
const ways = [['-m'], ['-rm']].filter((flags) => {
  try {
    execFileSync('unshare', [...flags, 'true'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
})
const watcher = new URL('../watcher.ts', import.meta.url).href
const child = (file: string) => `
import { createWatcher } from ${JSON.stringify(watcher)}
const watching = createWatcher({
  debounceMs: 20,
  scanMs: 20,
  onChange: () => console.log('change'),
  onError: ({ code, message }) => console.log(code, message),
})
watching.watch([${JSON.stringify(file)}])
`

test('a mounted file that is replaced where it comes from is reported, because its change is invisible', {
  skip: ways.length === 0 && 'no mount namespace is allowed',
  timeout: 30_000,
}, async (context) => {
  const folder = await createSampleFolder(context, { 'host/a.yaml': 'a: 1\n', 'a.yaml': '', 'child.mjs': '' })
  await writeFile(folder.at('child.mjs'), child(folder.at('a.yaml')))
  const mount = 'mount --bind "$1" "$2" && exec "$3" "$4"'
  const args = [folder.at('host/a.yaml'), folder.at('a.yaml'), process.execPath, folder.at('child.mjs')]
  const watching = spawn('unshare', [...(ways[0] ?? []), 'sh', '-c', mount, 'sh', ...args])
  let text = ''
  let heard: (() => void) | undefined
  watching.stdout.on('data', (data) => {
    text += data
    heard?.()
  })
  const says = async (pattern: RegExp) => {
    while (!pattern.test(text)) await new Promise<void>((resolve) => (heard = resolve))
  }
  await says(/change/)
  await writeFile(folder.at('host/a.yaml.new'), 'a: 2\n')
  await rename(folder.at('host/a.yaml.new'), folder.at('host/a.yaml'))
  await says(/FILE_REPLACED .*a\.yaml was replaced, .* Mount the folder instead/)
  watching.kill()
  await once(watching, 'exit')
})

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'

const compiler = path.join(import.meta.dirname, '../../node_modules/typescript/bin/tsc')
const define = path.join(import.meta.dirname, 'define.ts')

/** Bodies of transforms as authors write them; `|` is the cursor. */
const shapes = {
  'after another return': 'defineTransform(({ payload }) => {\n  if (payload.x) return\n  return { | }\n})',
  'of an arrow function': 'defineTransform(({ payload }) => ({ | }))',
  asynchronous: 'defineTransform(async ({ payload }) => {\n  if (payload.x) return null\n  return { | }\n})',
  'in a list': 'defineTransform(({ payload }) => [{ | }])',
  'with a typed payload': 'defineTransform<{ x: number }>(({ payload }) => {\n  return { | }\n})',
  'with a typed context': 'defineTransform(({ payload }: TransformContext<{ x: number }>) => ({ | }))',
}

test('an editor completes exactly the fields of a result, in every form that authors write', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'reveille-completion-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  await writeFile(path.join(folder, 'tsconfig.json'), '{ "compilerOptions": { "strict": true } }')
  const editor = startLanguageServer(t, folder)
  const rootUri = pathToFileURL(folder).href
  await editor.ask('initialize', { processId: process.pid, rootUri, capabilities: {} })
  editor.notify('initialized', {})
  const fields =
    `action channel deliver deliverTo message mode model name reply sessionKey text thinking timeoutSeconds
    to wakeMode`.split(/\s+/)
  // Where a promise may be returned, its own methods are offered as well.
  const ofPromise = ['catch', 'finally', 'then', '[Symbol.toStringTag]']
  for (const [index, [shape, body]] of Object.entries(shapes).entries()) {
    const text = `import { defineTransform, type TransformContext } from '${define}'\nexport default ${body}\n`
    const before = text.slice(0, text.indexOf('|')).split('\n')
    const uri = pathToFileURL(path.join(folder, `shape-${index}.ts`)).href
    const opened = { uri, languageId: 'typescript', version: 1, text: text.replace('|', '') }
    editor.notify('textDocument/didOpen', { textDocument: opened })
    const position = { line: before.length - 1, character: before.at(-1)?.length ?? 0 }
    const answer = await editor.ask('textDocument/completion', { textDocument: { uri }, position })
    const items: readonly { label: string }[] = answer.items ?? answer
    const labels = items.map(({ label }) => label.replace('?', '')).sort()
    assert.deepEqual(
      labels.filter((label) => !ofPromise.includes(label)),
      fields,
      shape,
    )
  }
})

/** The compiler's own language server, over its standard input and output. */
function startLanguageServer(t: TestContext, cwd: string) {
  const args = [compiler, '--lsp', '--stdio']
  const server = spawn(process.execPath, args, { cwd, stdio: ['pipe', 'pipe', 'ignore'] })
  t.after(async () => {
    server.stdin.end()
    await once(server, 'close')
  })
  // biome-ignore lint/suspicious/noExplicitAny: answers of a protocol
  const waiting = new Map<number, (result: any) => void>()
  let received = Buffer.alloc(0)
  let newest = 0
  server.stdout.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    for (;;) {
      const [head, length] =
        /^Content-Length: (\d+)\r\n(?:.+\r\n)*\r\n/.exec(received.toString('latin1')) ?? []
      if (head === undefined || received.length < head.length + Number(length)) return
      const message = JSON.parse(received.toString('utf8', head.length, head.length + Number(length)))
      received = received.subarray(head.length + Number(length))
      if (message.method !== undefined && message.id !== undefined)
        send({ id: message.id, result: message.method === 'workspace/configuration' ? [{}] : null })
      else waiting.get(message.id)?.(message.result ?? message.error)
    }
  })
  const send = (message: object) => {
    const text = JSON.stringify({ jsonrpc: '2.0', ...message })
    server.stdin.write(`Content-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`)
  }
  return {
    notify: (method: string, params: object) => send({ method, params }),
    ask(method: string, params: object) {
      const id = ++newest
      // biome-ignore lint/suspicious/noExplicitAny: as above
      return new Promise<any>((resolve) => {
        waiting.set(id, resolve)
        send({ id, method, params })
      })
    },
  }
}

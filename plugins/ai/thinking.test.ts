import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { atEnd } from '../../test/at-end.ts'
import { type Asked, startCaptureServer } from './fake-server/capture-server.ts'
import { type Protocol, protocols, repeat } from './fake-server/protocols.ts'
import { createRunner, run, turnTo } from './fake-server/runners.ts'

const readme = await readFile(new URL('./README.md', import.meta.url), 'utf8')
/** Rows of the table: a level, and what becomes of it in each column. */
const table = readme
  .split('\n')
  .filter((line) => /^\| (?:absent|`(?:off|minimal|low|medium|high|xhigh)`) \|/.test(line))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  )

interface Column {
  readonly protocol: string
  readonly model: string
  /** Counted from 1, beside the level. */
  readonly column: number
  readonly read: (body: Asked['body']) => unknown
}

const claude = (body: Asked['body']) =>
  body.output_config?.effort ?? body.thinking?.budget_tokens ?? body.thinking?.type

const columns: readonly Column[] = [
  { protocol: 'openai', model: 'gpt-5.2', column: 1, read: (body) => body.reasoning?.effort },
  { protocol: 'chat', model: 'gpt-5.2', column: 1, read: (body) => body.reasoning_effort },
  { protocol: 'anthropic', model: 'claude-sonnet-4-6', column: 2, read: claude },
  { protocol: 'anthropic', model: 'claude-sonnet-4-5', column: 3, read: claude },
  {
    protocol: 'google',
    model: 'gemini-3-pro-preview',
    column: 4,
    read: (body) => body.generationConfig?.thinkingConfig?.thinkingLevel,
  },
  {
    protocol: 'google',
    model: 'gemini-2.5-flash',
    column: 5,
    read: (body) => body.generationConfig?.thinkingConfig?.thinkingBudget,
  },
  { protocol: 'local', model: 'qwen3:8b', column: 6, read: (body) => body.reasoning_effort },
]

async function open(t: TestContext, name: string) {
  const protocol = protocols.find((each) => each.name === name) as Protocol
  const server = await startCaptureServer(repeat(protocol))
  atEnd(t, () => server.close())
  return { protocol, server }
}

for (const { protocol: name, model, column, read } of columns) {
  test(`each level reaches ${name}/${model} as the README says`, async (t) => {
    const { protocol, server } = await open(t, name)
    const shown: string[] = []
    for (const [level] of table) {
      const thinking = level === 'absent' ? undefined : level
      const turn = turnTo(protocol, { model: `${name}/${model}`, thinking })
      const { warnings = [] } = await run(createRunner(server.url), turn)
      shown.push(`${read(server.asked.at(-1)?.body) ?? '–'}${warnings.length > 0 ? '*' : ''}`)
      for (const warning of warnings) assert.match(warning, new RegExp(`^${name} .*\`thinking\``))
    }
    assert.equal(shown.length, 7)
    assert.deepEqual(
      shown,
      table.map((row) => row[column]),
    )
  })
}

test('an adaptive Claude gets a request to think with an effort', async (t) => {
  const { protocol, server } = await open(t, 'anthropic')
  await run(createRunner(server.url), turnTo(protocol, { thinking: 'high' }))
  const { thinking, output_config } = server.asked[0]?.body ?? {}
  assert.deepEqual([thinking.type, output_config], ['adaptive', { effort: 'high' }])
})

test('requests to OpenAI want no summary of the thinking, unless the options do', async (t) => {
  const { protocol, server } = await open(t, 'openai')
  const turn = turnTo(protocol, { thinking: 'low' })
  await run(createRunner(server.url), turn)
  await run(createRunner(server.url, { options: { reasoningSummary: 'auto' } }), turn)
  assert.deepEqual(
    server.asked.map(({ body }) => body.reasoning),
    [{ effort: 'low' }, { effort: 'low', summary: 'auto' }],
  )
})

test('a provider’s own options win over thinking', async (t) => {
  const { protocol, server } = await open(t, 'openai')
  const runner = createRunner(server.url, { options: { reasoningEffort: 'high' } })
  await run(runner, turnTo(protocol, { thinking: 'low' }))
  assert.equal(server.asked[0]?.body.reasoning.effort, 'high')
})

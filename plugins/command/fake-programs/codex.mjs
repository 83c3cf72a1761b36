/** A fake of `codex exec --json` 0.169 with its flags, lines and refusals. */

import { randomUUID } from 'node:crypto'
import { fail, hasConversation, mode, parse, play, readPrompt, replyTo, say } from './stage.mjs'

const { values, positionals } = parse(
  process.argv.slice(2),
  {
    json: { type: 'boolean' },
    'skip-git-repo-check': { type: 'boolean' },
    config: { type: 'string', short: 'c', multiple: true, default: [] },
    model: { type: 'string', short: 'm', default: 'its-default' },
  },
  { code: 2, allowPositionals: true },
)
const [command, ...rest] = positionals
const [resume, id = randomUUID(), dash] = rest[0] === 'resume' ? rest : [undefined, undefined, rest[0]]
if (command !== 'exec' || dash !== '-') fail(`error: unexpected arguments ${positionals.join(' ')}`, 2)
if (!values.json || !values['skip-git-repo-check']) fail('Not inside a trusted directory.')
const config = new Map(values.config.map((entry) => entry.split('=', 2)))
if (config.get('sandbox_mode') !== 'read-only') fail('the fake program runs nothing outside its sandbox')

const print = (line) => process.stdout.write(`${JSON.stringify(line)}\n`)
const prompt = readPrompt()
if (resume && !hasConversation(id))
  fail(`Error: thread/resume: thread/resume failed: no rollout found for thread id ${id} (code -32600)`)
const said = say(id, prompt)
process.stderr.write('WARNING: proceeding, even though a helper is missing\n')
print({ type: 'thread.started', thread_id: id })
print({ type: 'turn.started' })
print({ type: 'error', message: 'Reconnecting... 1/5' })
await play()
if (mode.startsWith('fail')) {
  const message = mode.slice('fail '.length) || 'stream disconnected before completion'
  print({ type: 'turn.failed', error: { message } })
  process.exit(1)
}
const thinking = config.get('model_reasoning_effort') ?? 'its-default'
const reply = replyTo({ model: values.model, thinking, turn: said.length }, prompt)
print({ type: 'item.started', item: { id: 'item_0', type: 'command_execution', command: 'ls' } })
print({ type: 'item.completed', item: { id: 'item_1', type: 'agent_message', text: 'I look first.' } })
print({ type: 'item.completed', item: { id: 'item_2', type: 'agent_message', text: reply } })
const count = said.length
const usage = {
  input_tokens: 12 * count,
  cached_input_tokens: 3 * count,
  output_tokens: 5 * count,
  reasoning_output_tokens: 2 * count,
}
print({ type: 'turn.completed', usage })

/** A fake of `claude -p` 2.1 with its flags, lines and refusals. */

import { randomUUID } from 'node:crypto'
import { fail, hasConversation, mode, parse, play, readPrompt, replyTo, say } from './stage.mjs'

const { values } = parse(
  process.argv.slice(2),
  {
    print: { type: 'boolean', short: 'p' },
    'output-format': { type: 'string', default: 'text' },
    verbose: { type: 'boolean' },
    model: { type: 'string', default: 'its-default' },
    effort: { type: 'string', default: 'its-default' },
    'append-system-prompt': { type: 'string', default: '' },
    'session-id': { type: 'string' },
    resume: { type: 'string' },
  },
  { code: 1 },
)
const { 'session-id': named, resume, effort, model } = values
if (!values.print || values['output-format'] !== 'stream-json')
  fail('the fake program only prints stream-json')
if (!values.verbose) fail('Error: When using --print, --output-format=stream-json requires --verbose')
const id = resume ?? named ?? randomUUID()
if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id))
  fail('Error: Invalid session ID. Must be a valid UUID.')

const usage = {
  input_tokens: 7,
  cache_creation_input_tokens: 2,
  cache_read_input_tokens: 3,
  output_tokens: 5,
}
const print = (line) => process.stdout.write(`${JSON.stringify({ ...line, session_id: id })}\n`)
const end = (result, isError) =>
  print({ type: 'result', subtype: 'success', is_error: isError, result, usage })

// An id is taken at once, and can be continued only after an answer.
if (resume !== undefined && !hasConversation(resume)) {
  const errors = [`No conversation found with session ID: ${resume}`]
  print({ type: 'result', subtype: 'error_during_execution', is_error: true, errors })
  fail(errors[0])
}
if (named !== undefined && hasConversation(`${named}-begun`))
  fail(`Error: Session ID ${named} is already in use.`)

const prompt = readPrompt()
say(`${id}-begun`, prompt)
print({ type: 'system', subtype: 'init', model })
await play()
if (mode.startsWith('fail')) {
  end(mode.slice('fail '.length) || 'API Error: 529 overloaded', true)
  process.exit(1)
}
const said = say(id, prompt)
const system = values['append-system-prompt']
const reply = replyTo({ model, thinking: effort, system, turn: said.length }, prompt)
print({ type: 'assistant', message: { content: [{ type: 'tool_use', name: 'Read', input: {} }] } })
print({ type: 'assistant', message: { content: [{ type: 'text', text: reply }] } })
end(reply, false)

/** A fake of `llm prompt` with its flags, text and refusals. It stores no conversation that could be continued. */

import { fail, mode, parse, play, readPrompt, replyTo } from './stage.mjs'

const { values, positionals } = parse(
  process.argv.slice(2),
  {
    model: { type: 'string', short: 'm', default: 'its-default' },
    system: { type: 'string', short: 's', default: '' },
  },
  { code: 2, allowPositionals: true },
)
if (positionals.join() !== 'prompt') fail(`Error: No such command '${positionals.join(' ')}'.`, 2)
const prompt = readPrompt()
await play()
if (mode === 'fail') fail('Error: No key found - set one with `llm keys set openai`')
process.stdout.write(`${replyTo({ model: values.model, system: values.system }, prompt)}\n`)

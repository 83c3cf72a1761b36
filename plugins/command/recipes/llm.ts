/**
 * Calls `llm` (https://llm.datasette.io). The recipe was written from the source and not tried: `docs/help.md` and `llm/cli.py` of simonw/llm.
 *
 * - `llm prompt` takes the prompt from standard input and prints the reply as it comes. Errors: `Error: …` on standard
 *   error, code 1.
 * - It continues conversations by `--cid`, but prints no ids of them, so that our history is sent before each prompt.
 * - Thinking is an option of single models (`-o reasoning_effort high`) that others refuse: none is set here.
 * - Prompts and replies also go to a database of its own, unless `llm logs off` was said or `--no-log` is given.
 */

import type { Recipe } from '../configuration.ts'

export const llm: Recipe = {
  command: 'llm',
  args: ['prompt', '--model={modelName}', '--system={systemPrompt}'],
  output: { format: 'text' },
  session: 'none',
}

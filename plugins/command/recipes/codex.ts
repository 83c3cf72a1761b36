/**
 * Calls Codex. The recipe was tried with 0.169.0 of `@openai/codex`; its own reference is `codex exec --help` and
 * https://developers.openai.com/codex/noninteractive.
 *
 * - The first line names the thread; `exec … resume <thread> -` continues it. A thread that is gone: "no rollout found
 *   for thread id", code 1, and no line at all. `-s` is not known behind `resume`, `-c sandbox_mode=` is everywhere.
 * - Lines of type `error` may be passing ("Reconnecting …"), and an item of type `error` a warning; what counts is
 *   `turn.failed`, with code 1.
 * - The usage of `turn.completed` counts the whole thread, resumed turns included.
 * - A refused key is "unexpected status 401", or "exceeded retry limit, last status: 401" (github.com/openai/codex/issues/7362); a quota
 *   that is used up is "You've hit your usage limit" (issues/28208) or "Quota exceeded" (issues/8987).
 * - There is no flag for a system prompt, so it goes before the first prompt of a thread.
 */

import type { Recipe } from '../configuration.ts'

export const codex: Recipe = {
  command: 'codex',
  args: ['exec', '--json', '--skip-git-repo-check', '-c', 'sandbox_mode=read-only', '--model={modelName}'],
  start: ['-'],
  resume: ['resume', '{session}', '-'],
  thinking: {
    off: ['-c', 'model_reasoning_effort=none'],
    minimal: ['-c', 'model_reasoning_effort=minimal'],
    low: ['-c', 'model_reasoning_effort=low'],
    medium: ['-c', 'model_reasoning_effort=medium'],
    high: ['-c', 'model_reasoning_effort=high'],
    xhigh: ['-c', 'model_reasoning_effort=xhigh'],
  },
  output: {
    format: 'jsonl',
    text: { match: { '/type': 'item.completed', '/item/type': 'agent_message' }, at: '/item/text' },
    session: { match: { '/type': 'thread.started' }, at: '/thread_id' },
    error: { match: { '/type': 'turn.failed' }, at: '/error' },
    usage: {
      match: { '/type': 'turn.completed' },
      input: '/usage/input_tokens',
      output: '/usage/output_tokens',
      cached: '/usage/cached_input_tokens',
      reasoning: '/usage/reasoning_output_tokens',
      cumulative: true,
    },
    progress: [
      { match: { '/type': 'item.completed', '/item/type': 'agent_message' }, text: '/item/text' },
      { match: { '/type': 'item.started' }, note: '{/item/type}' },
      { match: { '/type': 'error' }, note: '{/message}' },
    ],
  },
  session: 'theirs',
  lost: ['no rollout found', 'no saved session found'],
  outage: [
    '^unexpected status 401',
    '^exceeded retry limit, last status: 401',
    "^you've hit your usage limit",
    '^quota exceeded',
  ],
  modelPattern: '(openai/)?[A-Za-z0-9][A-Za-z0-9._:-]*',
}

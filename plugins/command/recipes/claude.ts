/**
 * Calls Claude Code. The recipe was tried with 2.1.197 of `@anthropic-ai/claude-code`; its own reference is `claude
 * --help` and https://docs.anthropic.com/en/docs/claude-code/cli-reference.
 *
 * - A session's id is ours to choose, and must be a UUID. `--session-id` with an id that exists fails with "already in
 *   use", `--resume` with one that does not with "No conversation found"; both with code 1. An id whose first turn was
 *   killed early does both.
 * - `stream-json` demands `--verbose`; its last line, of type `result`, is what `json` would have printed. A refused
 *   request ends with code 1 and `is_error`, its reason in `result`.
 * - Levels of `--effort` are low, medium, high, xhigh and max; any other only earns a warning on standard error.
 * - Input tokens come without those read from and written to the cache.
 * - A key that is refused is "Invalid API key", one without credit "Credit balance is too low"
 *   (github.com/anthropics/claude-code/issues/4208), at the beginning of `result`.
 * - Tools that need a permission are denied when no one can grant it, so they want `--permission-mode` or `--allowed-tools`.
 */

import type { Recipe } from '../configuration.ts'

export const claude: Recipe = {
  command: 'claude',
  args: [
    '-p',
    '--output-format=stream-json',
    '--verbose',
    '--model={modelName}',
    '--append-system-prompt={systemPrompt}',
  ],
  start: ['--session-id={session}'],
  resume: ['--resume={session}'],
  thinking: {
    minimal: ['--effort=low'],
    low: ['--effort=low'],
    medium: ['--effort=medium'],
    high: ['--effort=high'],
    xhigh: ['--effort=xhigh'],
  },
  output: {
    format: 'jsonl',
    text: { match: { '/type': 'result' }, at: '/result' },
    session: { match: { '/type': 'result' }, at: '/session_id' },
    error: { match: { '/type': 'result' }, at: '/is_error' },
    model: { match: { '/type': 'system', '/subtype': 'init' }, at: '/model' },
    usage: {
      match: { '/type': 'result' },
      input: ['/usage/input_tokens', '/usage/cache_read_input_tokens', '/usage/cache_creation_input_tokens'],
      output: '/usage/output_tokens',
      cached: '/usage/cache_read_input_tokens',
    },
    progress: [
      {
        match: { '/type': 'assistant', '/message/content/*/type': 'tool_use' },
        note: 'uses {/message/content/*/name}',
      },
      { match: { '/type': 'assistant' }, text: '/message/content/*/text' },
    ],
  },
  session: 'ours',
  lost: ['no conversation found'],
  taken: ['session id \\S+ is already in use'],
  outage: [
    '^invalid api key',
    '^credit balance is too low',
    '^(failed to authenticate.*)?api error: 401',
    '^oauth token has expired',
  ],
  modelPattern: '(anthropic/)?[A-Za-z0-9][A-Za-z0-9._:@-]*(\\[[a-z0-9]+\\])?',
}

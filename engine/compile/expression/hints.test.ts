import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createScope } from '../../resolve/model/scope.ts'
import { requestOf } from '../fixture.ts'
import { compileExpression, ExpressionSyntaxError } from './compile-expression.ts'

const payload = {
  ...{
    action: 'closed',
    ref: 'refs/heads/v1.2',
    title: 'Fix: urgent (now)',
    draft: false,
    merged: true,
    size: 3,
  },
  labels: ['bug', 'ui'],
  commits: [{ id: 1 }, { id: 2 }],
  items: [{ price: 2 }, { price: 5, kind: 'y' }],
  sender: { login: 'ada' },
  gone: null,
}

/** An author's expression, and the value of the hint's proposal for the payload, which is the intended one. */
const proposals: readonly (readonly [written: string, meant: unknown])[] = [
  ["action == 'closed'", true],
  ["action === 'opened'", false],
  ["action !== 'opened'", true],
  ["action <> 'opened'", true],
  ["action == 'closed' && merged", true],
  ["action == 'opened' || merged", true],
  ["action = 'closed' AND size = 3", true],
  ['assignee == null', true],
  ['gone == null', true],
  ['title == null', false],
  ['title is not null', true],
  ['assignee IS NULL', true],
  ["action not in ['opened', 'edited']", true],
  ["action in ('opened', 'closed')", true],
  ['not draft', true],
  ['!draft', true],
  ['!draft && merged', true],
  ["!(action = 'closed')", false],
  ["not(action = 'closed')", false],
  ['action matches "^clo"', true],
  ['action matches "^pen"', false],
  ["ref matches '^refs/heads/v\\\\d'", true],
  ['action matches /^clo/', true],
  ['action =~ "^clo"', true],
  ['ref =~ /^refs.heads/', true],
  ["title contains 'urgent'", true],
  ["action LIKE 'clo%'", true],
  ["action like '%sed'", true],
  ["title LIKE '%urgent%'", true],
  ["action LIKE 'clo'", false],
  ["ref startsWith 'refs/heads/'", true],
  ["ref starts_with 'heads'", false],
  ["ref endswith '.2'", true],
  ["ref endsWith '/v1.'", false],
  ["ref.startsWith('refs/heads/')", true],
  ["ref.endsWith('v1x2')", false],
  ["title.startsWith('Fix: urgent (')", true],
  ["labels.includes('bug')", true],
  ["labels.indexOf('bug') >= 0", true],
  ["labels.indexOf('nothing') === -1", true],
  ["labels.indexOf('bug') > -1 && !draft", true],
  ['/^clo/.test(action)', true],
  ['/^clo/i.test(action) && merged', true],
  ['sender?.login', 'ada'],
  ["sender?.login == 'ada'", true],
  ['action.toUpperCase()', 'CLOSED'],
  ["action.toLowerCase() == 'closed'", true],
  ['title.trim()', 'Fix: urgent (now)'],
  ['size.toString()', '3'],
  ["labels.join(', ')", 'bug, ui'],
  ["action.split('o')", ['cl', 'sed']],
  ["action.replace('closed', 'shut')", 'shut'],
  ['JSON.stringify(sender)', '{"login":"ada"}'],
  ['Math.max([size, 5])', 5],
  ['len(commits) > 1', true],
  ['length(action)', 6],
  ["contains(title, 'urgent')", true],
  ["items[?(@.kind == 'y')].price", 5],
  ['$..price', [2, 5]],
  ['typeof size', 'number'],
  ['new Date()', '2026-01-02T03:04:05.000Z'],
  ['total := 1; $total + 1', undefined],
  ['$n := $count(commits); $n + 1', 3],
  ['{{action}}', 'closed'],
  ["{{ action }} = 'closed'", true],
  [".action = 'closed'", true],
  ["action = 'closed' // the end", true],
  ['"Review " + title', 'Review Fix: urgent (now)'],
  ["'#' + size + ' ' + action", '#3 closed'],
  ["action = 'closed' & draft = false", true],
  ["action = 'opened' or 'closed'", true],
  ["sender['login']", 'ada'],
  ['1 < size < 5', true],
  ['`${action} by ${sender.login}`', 'closed by ada'],
  ['$fromMillis(0, "YYYY-MM-DD")', '1970-01-01'],
  ['$fromMillis(0, "dd.MM.yyyy HH:mm")', '01.01.1970 00:00'],
  ['$fromMillis(0, "%Y-%m-%d")', '1970-01-01'],
  ['$fromMillis(0, "[YYYY]-[MM]-[DD]")', '1970-01-01'],
  ['$fromMillis(0, "[Y0001]-[m01]-[D01]")', '1970-01-01'],
  ['$now("[H01]:[M01]")', '03:04'],
  ['$now("[H01]", "Mars/Base")', undefined],
]

for (const [written, meant] of proposals) {
  test(`the hint for ${written} proposes what gives ${JSON.stringify(meant)}`, async () => {
    let hint: string | undefined
    try {
      compileExpression(written)
    } catch (error) {
      assert.ok(error instanceof ExpressionSyntaxError, String(error))
      hint = error.hint
    }
    const inBackquotes = /(?:Write|: |such as) ?`((?:[^`]|`[\w-]+`)+)`/.exec(hint ?? '')?.[1]
    const quoted = inBackquotes ?? /: ([\w.]+)$/.exec(hint ?? '')?.[1]
    assert.ok(quoted !== undefined, `no proposal: ${hint}`)
    // A picture or a time zone is proposed alone.
    const proposal = /^"[^"]*"$/.test(quoted) ? withLiteral(written, quoted) : quoted
    const request = { ...requestOf(payload), now: Date.UTC(2026, 0, 2, 3, 4, 5) }
    const value = await compileExpression(proposal).evaluate(createScope(request))
    if (meant !== undefined) assert.deepEqual(value, meant, proposal)
  })
}

function withLiteral(written: string, literal: string): string {
  return written.replace(literal.startsWith('"[') ? /"[^"]*"/ : /"[^"]*"(?=\)$)/, literal)
}

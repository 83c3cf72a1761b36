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

/** Expressions as authors write them, and the value of their hints' proposals for the payload, which is the intended one; none, where only a proposal is expected. */
const proposals = `
action == 'closed' ¦ action !== 'opened' ¦ action <> 'opened' ¦ action == 'closed' && merged ¦ action == 'opened' || merged ¦ action = 'closed' AND size = 3 ¦ assignee == null ¦ gone == null ⇒ true
title is not null ¦ assignee IS NULL ¦ action not in ['opened', 'edited'] ¦ action in ('opened', 'closed') ¦ not draft ¦ !draft ¦ !draft && merged ¦ action matches "^clo" ⇒ true
ref matches '^refs/heads/v\\\\d' ¦ action matches /^clo/ ¦ action =~ "^clo" ¦ ref =~ /^refs.heads/ ¦ title contains 'urgent' ¦ action LIKE 'clo%' ¦ action like '%sed' ¦ title LIKE '%urgent%' ⇒ true
ref startsWith 'refs/heads/' ¦ ref endswith '.2' ¦ ref.startsWith('refs/heads/') ¦ title.startsWith('Fix: urgent (') ¦ labels.includes('bug') ¦ labels.indexOf('bug') >= 0 ⇒ true
labels.indexOf('nothing') === -1 ¦ labels.indexOf('bug') > -1 && !draft ¦ /^clo/.test(action) ¦ /^clo/i.test(action) && merged ¦ sender?.login == 'ada' ¦ action.toLowerCase() == 'closed' ⇒ true
len(commits) > 1 ¦ contains(title, 'urgent') ¦ {{ action }} = 'closed' ¦ .action = 'closed' ¦ action = 'closed' // the end ¦ action = 'closed' & draft = false ¦ action = 'opened' or 'closed' ⇒ true
1 < size < 5 ⇒ true
action === 'opened' ¦ title == null ¦ !(action = 'closed') ¦ not(action = 'closed') ¦ action matches "^pen" ¦ action LIKE 'clo' ¦ ref starts_with 'heads' ¦ ref endsWith '/v1.' ⇒ false
ref.endsWith('v1x2') ⇒ false
sender?.login ¦ sender['login'] ⇒ "ada"
action.toUpperCase() ⇒ "CLOSED"
title.trim() ⇒ "Fix: urgent (now)"
size.toString() ⇒ "3"
labels.join(', ') ⇒ "bug, ui"
action.split('o') ⇒ ["cl","sed"]
action.replace('closed', 'shut') ⇒ "shut"
JSON.stringify(sender) ⇒ "{\\"login\\":\\"ada\\"}"
Math.max([size, 5]) ¦ items[?(@.kind == 'y')].price ⇒ 5
length(action) ⇒ 6
$..price ⇒ [2,5]
typeof size ⇒ "number"
new Date() ⇒ "2026-01-02T03:04:05.000Z"
total := 1; $total + 1 ¦ $now("[H01]", "Mars/Base") ⇒ 
$n := $count(commits); $n + 1 ⇒ 3
{{action}} ⇒ "closed"
"Review " + title ⇒ "Review Fix: urgent (now)"
'#' + size + ' ' + action ⇒ "#3 closed"
\`\${action} by \${sender.login}\` ⇒ "closed by ada"
$fromMillis(0, "YYYY-MM-DD") ¦ $fromMillis(0, "%Y-%m-%d") ¦ $fromMillis(0, "[YYYY]-[MM]-[DD]") ¦ $fromMillis(0, "[Y0001]-[m01]-[D01]") ⇒ "1970-01-01"
$fromMillis(0, "dd.MM.yyyy HH:mm") ⇒ "01.01.1970 00:00"
$now("[H01]:[M01]") ⇒ "03:04"`

const rows = [...proposals.matchAll(/^(.+) ⇒ (.*)$/gm)]
for (const [written, meant] of rows.flatMap(([, all = '', meant]) =>
  all.split(' ¦ ').map((each) => [each, meant] as const),
))
  test(`the hint for ${written} proposes what gives ${meant}`, async () => {
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
    if (meant) assert.deepEqual(value, JSON.parse(meant), proposal)
  })

function withLiteral(written: string, literal: string): string {
  return written.replace(literal.startsWith('"[') ? /"[^"]*"/ : /"[^"]*"(?=\)$)/, literal)
}

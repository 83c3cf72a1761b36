import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileExpression, ExpressionSyntaxError } from './compile-expression.ts'

/** Expressions as authors write them in other languages. */
const foreign = `
action == 'closed' ¦ action !== 'opened' ¦ action <> 'opened' ¦ action == 'closed' && merged ¦ action == 'opened' || merged ¦ action = 'closed' AND size = 3 ¦ assignee == null ¦ gone == null
title is not null ¦ assignee IS NULL ¦ action not in ['opened', 'edited'] ¦ action in ('opened', 'closed') ¦ not draft ¦ !draft ¦ !draft && merged ¦ action matches "^clo"
ref matches '^refs/heads/v\\\\d' ¦ action matches /^clo/ ¦ action =~ "^clo" ¦ ref =~ /^refs.heads/ ¦ title contains 'urgent' ¦ action LIKE 'clo%' ¦ action like '%sed' ¦ title LIKE '%urgent%'
ref startsWith 'refs/heads/' ¦ ref endswith '.2' ¦ ref.startsWith('refs/heads/') ¦ title.startsWith('Fix: urgent (') ¦ labels.includes('bug') ¦ labels.indexOf('bug') >= 0
labels.indexOf('nothing') === -1 ¦ labels.indexOf('bug') > -1 && !draft ¦ /^clo/.test(action) ¦ /^clo/i.test(action) && merged ¦ sender?.login == 'ada' ¦ action.toLowerCase() == 'closed'
len(commits) > 1 ¦ contains(title, 'urgent') ¦ {{ action }} = 'closed' ¦ .action = 'closed' ¦ action = 'closed' // the end ¦ action = 'closed' & draft = false ¦ action = 'opened' or 'closed'
1 < size < 5
action === 'opened' ¦ title == null ¦ !(action = 'closed') ¦ not(action = 'closed') ¦ action matches "^pen" ¦ action LIKE 'clo' ¦ ref starts_with 'heads' ¦ ref endsWith '/v1.'
ref.endsWith('v1x2')
sender?.login ¦ sender['login']
action.toUpperCase()
title.trim()
size.toString()
labels.join(', ')
action.split('o')
action.replace('closed', 'shut')
JSON.stringify(sender)
Math.max([size, 5]) ¦ items[?(@.kind == 'y')].price
length(action)
$..price
typeof size
new Date()
total := 1; $total + 1 ¦ $now("[H01]", "Mars/Base")
$n := $count(commits); $n + 1
{{action}}
"Review " + title
'#' + size + ' ' + action
\`\${action} by \${sender.login}\`
$fromMillis(0, "YYYY-MM-DD") ¦ $fromMillis(0, "%Y-%m-%d") ¦ $fromMillis(0, "[YYYY]-[MM]-[DD]") ¦ $fromMillis(0, "[Y0001]-[m01]-[D01]")
$fromMillis(0, "dd.MM.yyyy HH:mm")
$now("[H01]:[M01]")`

for (const written of foreign.trim().split(/ ¦ |\n/))
  test(`${written} is refused, and the example in its hint compiles`, () => {
    let hint = ''
    try {
      compileExpression(written)
    } catch (error) {
      assert.ok(error instanceof ExpressionSyntaxError, String(error))
      hint = error.hint ?? ''
    }
    const [, quoted, named] = /`([^`]+)`|(?:Did you mean|dot:) (\$?[\w.]+)/.exec(hint) ?? []
    const example = quoted ?? named ?? ''
    assert.ok(example !== '', 'it is not refused')
    compileExpression(example)
  })

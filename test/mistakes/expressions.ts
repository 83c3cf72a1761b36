/** Lists mistakes of authors in expressions and templates, with the exact text that check, lint or test prints for them. */

import type { Mistake } from './fixture.ts'

export const mistakesOfExpressions: readonly Mistake[] = [
  {
    name: 'equality as two signs',
    mapping: `match: { path: a, when: "ref == 'refs/heads/main'" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": equality is one \`=\` [EXPRESSION_SYNTAX]
      hint: Write \`ref = 'refs/heads/main'\`.`,
  },
  {
    name: 'equality as three signs, with and, not and includes',
    mapping: `match: { path: a, when: "action === 'opened' && !draft && labels.includes('bug')" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": equality is one \`=\` [EXPRESSION_SYNTAX]
      hint: Write \`action = 'opened' and $not(draft) and 'bug' in labels\`. That asks a list; a string is asked with \`$contains(field, "x")\`.`,
  },
  {
    name: 'or as two bars',
    mapping: `match: { path: a, when: "action = 'opened' || action = 'reopened'" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": the word for \`||\` is \`or\` [EXPRESSION_SYNTAX]
      hint: Write \`action = 'opened' or action = 'reopened'\`.`,
  },
  {
    name: 'a word for not',
    mapping: `match: { path: a, when: "not draft" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": negation is a function, \`$not(…)\` [EXPRESSION_SYNTAX]
      hint: Write \`$not(draft)\`.`,
  },
  {
    name: 'a placeholder in an expression',
    mapping: `match: { path: a, when: "{{ref}} = 'x'" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": an expression has no {{ }}: names stand in it as they are [EXPRESSION_SYNTAX]
      hint: Write \`ref = 'x'\`.`,
  },
  {
    name: 'a placeholder in a text of an expression',
    mapping: `match: { path: a, when: "'{{ref}}' = 'x'" }
message: x`,
    text: `
      warning: \`match.when\` of mapping "a": holds {{ }} in a text, which an expression leaves as it is [DOUBTFUL_EXPRESSION]
      hint: Name the value without quotes: \`ref\`.`,
  },
  {
    name: 'not in',
    mapping: `match: { path: a, when: "action not in ['opened', 'closed']" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": \`not in\` is \`$not(… in …)\` [EXPRESSION_SYNTAX]
      hint: Write \`$not(action in ['opened', 'closed'])\`.`,
  },
  {
    name: 'a list in round brackets',
    mapping: `match: { path: a, when: "action in ('opened', 'closed')" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": a list stands in brackets [EXPRESSION_SYNTAX]
      hint: Write \`action in ['opened', 'closed']\`.`,
  },
  {
    name: 'a regular expression as in Perl',
    mapping: `match: { path: a, when: "ref =~ /^refs.tags/" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": a regular expression is asked with \`$contains\` [EXPRESSION_SYNTAX]
      hint: Write \`$contains(ref, /^refs.tags/)\`.`,
  },
  {
    name: 'contains between its operands',
    mapping: `match: { path: a, when: "title contains 'urgent'" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": whether a text holds another is asked with \`$contains\` [EXPRESSION_SYNTAX]
      hint: Write \`$contains(title, 'urgent')\`.`,
  },
  {
    name: 'optional chaining',
    mapping: `match: { path: a, when: "pull_request?.user?.login = 'ada'" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": \`?.\` is a plain \`.\`: a path that leads nowhere gives nothing [EXPRESSION_SYNTAX]
      hint: Write \`pull_request.user.login = 'ada'\`.`,
  },
  {
    name: 'null as in JavaScript',
    mapping: `match: { path: a, when: "assignee == null" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": equality is one \`=\`, and a field that is absent equals nothing [EXPRESSION_SYNTAX]
      hint: Write \`($not($exists(assignee)) or assignee = null)\`.`,
  },
  {
    name: 'is not null, as in SQL',
    mapping: `match: { path: a, when: "assignee is not null" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": whether a field is there is asked with \`$exists\` [EXPRESSION_SYNTAX]
      hint: Write \`$exists(assignee)\`.`,
  },
  {
    name: 'undefined',
    mapping: `match: { path: a, when: "assignee = undefined" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": \`undefined\` is read as a field of the payload [EXPRESSION_SYNTAX]
      hint: Whether a field is there is asked with \`$exists(field)\` and \`$not($exists(field))\`.`,
  },
  {
    name: 'a constant of Python',
    mapping: `match: { path: a, when: "draft = False" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": \`False\` is read as a field of the payload [EXPRESSION_SYNTAX]
      hint: Write \`false\`.`,
  },
  {
    name: 'a path of jq',
    mapping: `match: { path: a, when: ".action = 'opened'" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": a path begins with a name [EXPRESSION_SYNTAX]
      hint: Write \`action = 'opened'\`.`,
  },
  {
    name: 'a path at any depth, of JSONPath',
    mapping: `match: { path: a, when: "$..amount > 5" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": a field at any depth is \`**.name\` [EXPRESSION_SYNTAX]
      hint: Write \`**.amount > 5\`.`,
  },
  {
    name: 'operators in capital letters',
    mapping: `match: { path: a, when: "a = 1 AND b = 2" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": \`and\`, \`or\` and \`in\` are written in small letters [EXPRESSION_SYNTAX]
      hint: Write \`a = 1 and b = 2\`.`,
  },
  {
    name: 'an unknown function',
    mapping: `match: { path: a, when: "$cont(commits) > 3" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": there is no function $cont [EXPRESSION_SYNTAX]
      hint: Did you mean $count or $contains?`,
  },
  {
    name: 'a function without its sign',
    mapping: `match: { path: a, when: "contains(title, 'urgent')" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": a function begins with \`$\`, and \`contains\` does not [EXPRESSION_SYNTAX]
      hint: Write \`$contains(title, 'urgent')\`.`,
  },
  {
    name: 'a method of JavaScript',
    mapping: `match: { path: a, when: "payload.labels.includes('x')" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": a function begins with \`$\`, and \`includes\` does not [EXPRESSION_SYNTAX]
      hint: Write \`'x' in payload.labels\`. That asks a list; a string is asked with \`$contains(field, "x")\`.`,
  },
  {
    name: 'a length as in JavaScript',
    mapping: `match: { path: a, when: "commits.length > 3" }
message: x`,
    text: `
      warning: \`match.when\` of mapping "a": reads a field called \`length\`, which no list and no text has in an expression [DOUBTFUL_EXPRESSION]
      hint: Write \`$count(commits)\` for a list and \`$length(commits)\` for a text; a field of that name stands in backquotes.`,
  },
  {
    name: 'a variable as in a shell',
    mapping: `match: { path: a, when: "$action = 'opened'" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": there is no variable $action [EXPRESSION_SYNTAX]
      hint: A field of the payload is named without the sign: \`action\`.`,
  },
  {
    name: 'two texts behind one comparison',
    mapping: `match: { path: a, when: "action = 'opened' or 'reopened'" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": a text beside \`or\` is a condition of its own, which always holds [EXPRESSION_SYNTAX]
      hint: Write \`action in ['opened', 'reopened']\`.`,
  },
  {
    name: 'a comparison with two ends',
    mapping: `match: { path: a, when: "1 < size < 5" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": \`<\` compares two numbers or two texts, not a boolean [EXPRESSION_SYNTAX]
      hint: Write \`1 < size and size < 5\`.`,
  },
  {
    name: 'a header by its name with dashes',
    mapping: `match: { path: a, when: "headers.x-github-event = 'push'" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": \`-\` subtracts, also in the name of a header [EXPRESSION_SYNTAX]
      hint: Put the name in backquotes: headers.\`x-github-event\``,
  },
  {
    name: 'a header in brackets',
    mapping: `match: { path: a, when: "headers['x-github-event'] = 'push'" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": brackets filter a list; a text in them holds for every element [EXPRESSION_SYNTAX]
      hint: A field is read behind a dot: headers.\`x-github-event\``,
  },
  {
    name: 'a header in capital letters',
    mapping: `match: { path: a, when: "headers.\\"X-GitHub-Event\\" = 'push'" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": names of headers are in small letters here [EXPRESSION_SYNTAX]
      hint: Write headers.\`x-github-event\``,
  },
  {
    name: 'our names below the root',
    mapping: `match: { path: a, when: "$.headers.\`x-id\` = '1'" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": looks for headers below $ or $$, which are the payload alone [EXPRESSION_SYNTAX]
      hint: Write \`headers.\`x-id\` = '1'\`. A field of the payload that is called so is \`payload.headers\`.`,
  },
  {
    name: 'conditions joined as texts',
    mapping: `match: { path: a, when: "action = 'opened' & draft = false" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": \`=\` compares what the comparison before it gives [EXPRESSION_SYNTAX]
      hint: Join conditions with \`and\`: \`action = 'opened' and draft = false\`.`,
  },
  {
    name: 'a condition that counts',
    mapping: `match: { path: a, when: "$count(commits)" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": gives a number, where only \`true\` matches [WHEN_NOT_BOOLEAN]
      hint: Compare it: \`$count(commits) > 0\`.`,
  },
  {
    name: 'a condition that is a text',
    mapping: `match: { path: a, when: "'opened'" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": gives a text, where only \`true\` matches [WHEN_NOT_BOOLEAN]
      hint: Compare it: \`action = 'opened'\`. Conditions are joined with \`and\`, not with \`&\`.`,
  },
  {
    name: 'a condition that is a list',
    mapping: `match: { path: a, when: "['opened', 'closed']" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": gives a list, where only \`true\` matches [WHEN_NOT_BOOLEAN]
      hint: Ask whether a value is in it: \`action in ['opened', 'closed']\`.`,
  },
  {
    name: 'a condition that is what `$match` finds',
    mapping: `match: { path: a, when: "$match(title, /^fix/i)" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": gives a list, where only \`true\` matches [WHEN_NOT_BOOLEAN]
      hint: Ask whether there is any: \`$contains(title, /^fix/i)\`.`,
  },
  {
    name: 'a condition of arithmetic',
    mapping: `match: { path: a, when: "size - 5" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": gives a number, where only \`true\` matches [WHEN_NOT_BOOLEAN]
      hint: Compare it: \`size - 5 > 0\`.`,
  },
  {
    name: 'a function that is not called',
    mapping: `match: { path: a, when: "function($x) { $x }" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": gives a function, where only \`true\` matches [WHEN_NOT_BOOLEAN]
      hint: Call it: \`$exists(labels)\`.`,
  },
  {
    name: 'a condition that filters',
    command: 'lint',
    mapping: `match: { path: a, when: "labels[name='bug']" }
message: x`,
    text: `
      warning: \`match.when\` of mapping "a" gives what its brackets find, and only \`true\` matches [CONDITION_VALUE]
      hint: Ask whether there is any: \`$exists(labels[name='bug'])\`.`,
  },
  {
    name: 'a condition that is a text in every sample',
    command: 'lint',
    file: `mappings:
  - id: a
    match: { path: a, when: action }
    message: x
tests:
  - name: it is taken
    request: { endpoint: a, body: { action: opened } }
    expect: { mapping: a }
`,
    text: `
      warning: \`match.when\` of mapping "a" gives a text in every sample that has it, and only \`true\` matches [CONDITION_VALUE]
      hint: Compare it, such as \`action = "opened"\`, or write \`$exists(action)\`.`,
  },
  {
    name: 'a text of vars without quotes',
    command: 'lint',
    file: `mappings:
  - id: a
    match: { path: a }
    vars: { team: platform }
    message: x {{vars.team}}
tests:
  - name: it is taken
    request: { endpoint: a, body: { action: opened } }
    expect: { mapping: a }
`,
    text: `
      warning: \`vars.team\` of mapping "a" names platform; no sample of its endpoint has such a field [UNKNOWN_FIELD]
      hint: A text stands in quotes of its own: team: "'platform'".`,
  },
  {
    name: 'the environment in a template',
    command: 'lint',
    file: `mappings:
  - id: a
    match: { path: a }
    message: Hi {{env.USER}}
tests:
  - name: it is taken
    request: { endpoint: a, body: { action: opened } }
    expect: { mapping: a }
`,
    text: `
      warning: \`message\` of mapping "a" names env.USER; no sample of its endpoint has such a field [UNKNOWN_FIELD]
      hint: Templates and expressions do not see the environment. Write the value, or hand it to a transform by \`transform.with\`.`,
  },
  {
    name: 'an item without forEach',
    command: 'lint',
    file: `mappings:
  - id: a
    match: { path: a }
    message: Hi {{item.title}}
tests:
  - name: it is taken
    request: { endpoint: a, body: { title: x } }
    expect: { mapping: a }
`,
    text: `
      warning: \`message\` of mapping "a" names item.title; no sample of its endpoint has such a field [UNKNOWN_FIELD]
      hint: Only a mapping with forEach has an item.`,
  },
  {
    name: 'a reference in a message',
    command: 'lint',
    mapping: `match: { path: a }
message: Ask \${OWNER} first.`,
    text: `
      warning: \`message\` of mapping "a" holds a reference, which is plain text in a mapping [LITERAL_REFERENCE]
      hint: References are resolved in reveille.yaml outside of mappings. Write the value, or hand it to a transform by \`transform.with\`.`,
  },
  {
    name: 'a reference in to',
    mapping: `match: { path: a }
channel: terminal
to: \${SLACK_TO}
message: x`,
    text: `
      error: \`channel\` of mapping "a": is not configured (configured: none) [CHANNEL_NOT_CONFIGURED]
      hint: Configure it under channels, or write last.
      error: \`to\` of mapping "a": holds a reference, which is plain text in a mapping [LITERAL_REFERENCE]
      hint: References are resolved in reveille.yaml outside of mappings. Write the value, or hand it to a transform by \`transform.with\`.`,
  },
  {
    name: 'a reference in a header',
    mapping: `match: { path: a, headers: { x-token: "\${TOKEN}" } }
message: x`,
    text: `
      warning: \`match.headers.x-token\` of mapping "a": is compared letter for letter: references are not resolved in a mapping [LITERAL_TEXT]
      hint: Write the value itself.`,
  },
  {
    name: 'a reference in vars',
    mapping: `match: { path: a }
vars: { token: "\${JIRA_TOKEN}" }
message: x`,
    text: `
      error: \`vars.token\` of mapping "a": \`\${…}\` is neither a reference nor a placeholder in an expression [EXPRESSION_SYNTAX]
      hint: References are resolved in reveille.yaml outside of mappings. Write the value, or hand it to a transform by \`transform.with\`. A field is its name alone.`,
  },
  {
    name: 'a reference in a text of an expression',
    mapping: `match: { path: a, when: "headers.\`x-token\` = '\${TOKEN}'" }
message: x`,
    text: `
      warning: \`match.when\` of mapping "a": holds \`\${…}\` in a text, which nothing resolves [DOUBTFUL_EXPRESSION]
      hint: References are resolved in reveille.yaml outside of mappings; a value is joined with \`&\`.`,
  },
  {
    name: 'a text of vars of several words without quotes',
    mapping: `match: { path: a }
vars: { team: platform team }
message: x`,
    text: `
      error: \`vars.team\` of mapping "a": a text stands in quotes [EXPRESSION_SYNTAX]
      hint: Write \`'platform team'\`.`,
  },
  {
    name: 'texts that are added',
    mapping: `match: { path: a }
message: '{% "Review " + title %}'`,
    text: `
      error: \`message\` of mapping "a": \`+\` adds numbers; texts are joined with \`&\` [EXPRESSION_SYNTAX]
      hint: Write \`"Review " & title\`.`,
  },
  {
    name: 'a template literal',
    mapping: `match: { path: a }
message: '{% \`Review \${title} now\` %}'`,
    text: `
      error: \`message\` of mapping "a": backquotes hold the name of a field; texts are joined with \`&\` [EXPRESSION_SYNTAX]
      hint: Write \`"Review " & title & " now"\`.`,
  },
  {
    name: 'a misspelt function in a message',
    mapping: `match: { path: a }
message: '{% $uper(title) %}'`,
    text: `
      error: \`message\` of mapping "a": there is no function $uper [EXPRESSION_SYNTAX]
      hint: Did you mean $uppercase?`,
  },
  {
    name: 'a model that a payload chooses',
    mapping: `match: { path: a }
model: '{% model %}'
message: x`,
    text: `
      error: \`model\` of mapping "a": may hold no expression that gives what a payload says [PAYLOAD_ROUTING]
      hint: Let it choose between texts that are written in it, '{% urgent ? "one" : "other" %}', or set allowPayloadRouting: true if every sender may choose it.`,
  },
  {
    name: 'a model without its provider',
    mapping: `match: { path: a }
model: careful
message: x`,
    text: `
      error: \`model\` of mapping "a": must be <provider>/<model> [MODEL_NOT_ALLOWED]
      hint: Write it like openai/gpt-5, or name an alias of \`agents.defaults.models.aliases\`, where there is none yet.`,
  },
  {
    name: 'a colon in a message',
    mapping: `match: { path: a }
message: Review: {{title}}`,
    text: `
      error: A second \`key:\` begins where text was expected [YAML_SYNTAX]
      hint: Text that holds \`: \` needs quotes, or a \`|\` and the text on the next lines.`,
  },
  {
    name: 'a template without quotes',
    mapping: `match: { path: a }
message: {{title}}`,
    text: `
      error: A map or list stands where a key was expected [YAML_SYNTAX]
      hint: A template that begins with \`{{\` or \`{%\` needs quotes around it.`,
  },
  {
    name: 'our names in a list, below the root',
    mapping: `match: { path: a }
vars: { titles: titles }
message: '{% [answers.{"q": $lookup($$.vars.titles, id)}] %}'`,
    text: `
      error: \`message\` of mapping "a": looks for vars below $ or $$, which are the payload alone [EXPRESSION_SYNTAX]
      hint: Write \`($vars := vars; [answers.{"q": $lookup($vars.titles, id)}])\`. A field of the payload that is called so is \`payload.vars\`.`,
  },
  {
    name: 'a later value of vars',
    mapping: `match: { path: a }
vars: { a: vars.b, b: '1' }
message: x`,
    text: `
      error: \`vars.a\` of mapping "a": reads vars.b, which is computed after it [NAME_WITHOUT_VALUE]
      hint: Put b above a, since each value sees those before it.`,
  },
  {
    name: 'an element in the condition',
    mapping: `match: { path: a, when: item.urgent }
forEach: items
message: x`,
    text: `
      error: \`match.when\` of mapping "a": reads item, which has no value yet: it is asked once, before forEach [NAME_WITHOUT_VALUE]
      hint: Filter the list instead: forEach: 'items[kind = "x"]'. A field of the payload that is called so is payload.item.`,
  },
  {
    name: 'an element as item and as the first of the list',
    mapping: `match: { path: a }
forEach: messages
sessionKey: 'hook:a:{{messages[0].id}}'
message: '{{item.subject}}'`,
    text: `
      error: \`sessionKey\` of mapping "a": reads messages[0] beside \`item\`, so that it is not clear which element is meant [AMBIGUOUS_ELEMENT]
      hint: Write item for the element that the action is about, and payload.messages[0] for the first of all.`,
  },
  {
    name: 'a key of a test that is like nothing',
    file: `mappings:
  - id: a
    match: { path: a }
    message: x
tests:
  - name: t
    request: { endpoint: a, body: {} }
    expect: { foo: 1 }
`,
    text: `
      error: \`tests[0].expect.foo\` is not a known key [UNKNOWN_KEY]
      hint: Known here: outcome, status, code, reason, mapping, action, text, mode, message, name, sessionKey, wakeMode, deliver, channel, to, model, thinking, timeoutSeconds, prompt, runner, busy, coalesce, dedupe, trusted, index, deliverTo, actions.`,
  },
  {
    name: 'a filter of Liquid',
    mapping: `match: { path: a }
message: '{% title | upcase %}'`,
    text: `
      error: \`message\` of mapping "a": there are no filters behind \`|\` [EXPRESSION_SYNTAX]
      hint: A function takes the value in brackets: \`$uppercase(title)\`; one condition or the other is \`a or b\`.`,
  },
  {
    name: 'an arrow function',
    mapping: `match: { path: a }
vars: { names: '$map(items, i => i.name)' }
message: x`,
    text: `
      error: \`vars.names\` of mapping "a": a function is written \`function($x) { … }\` [EXPRESSION_SYNTAX]
      hint: Write \`$map(items, function($x) { $x.name })\`, or the path alone: \`items.name\`.`,
  },
  {
    name: 'several statements',
    mapping: `match: { path: a }
vars: { n: '$a := 1; $a + 1' }
message: x`,
    text: `
      error: \`vars.n\` of mapping "a": several expressions stand in round brackets [EXPRESSION_SYNTAX]
      hint: Write \`($a := 1; $a + 1)\`.`,
  },
  {
    name: 'a function by the name of Python',
    mapping: `match: { path: a, when: "len(commits) > 3" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": a function begins with \`$\`, and \`len\` does not [EXPRESSION_SYNTAX]
      hint: Write \`$count(commits) > 3\`.`,
  },
  {
    name: 'a misspelt variable',
    mapping: `match: { path: a, when: "($total := $count(commits); $totl > 3)" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": there is no variable $totl [EXPRESSION_SYNTAX]
      hint: Did you mean $total? A field of the payload is named without the sign: \`totl\`.`,
  },
  {
    name: 'a text for a number',
    mapping: `match: { path: a, when: "'5' + size > 6" }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": \`+\` adds numbers; texts are joined with \`&\` [EXPRESSION_SYNTAX]
      hint: Write \`'5' & size > 6\`.`,
  },
  {
    name: 'a list as a condition',
    command: 'lint',
    file: `mappings:
  - id: a
    match: { path: a, when: labels }
    message: x
tests:
  - name: it is taken
    request: { endpoint: a, body: { labels: [bug] } }
    expect: { mapping: a }
`,
    text: `
      warning: \`match.when\` of mapping "a" gives a list in every sample that has it, and only \`true\` matches [CONDITION_VALUE]
      hint: Write \`$count(labels) > 0\`.`,
  },
  {
    name: 'a session key that a payload chooses',
    mapping: `match: { path: a }
sessionKey: '{% id %}'
message: x`,
    text: `
      error: \`sessionKey\` of mapping "a": may hold placeholders only after a fixed prefix that ends in ":" [SESSION_KEY_PREFIX]
      hint: Write sessionKey: "hook:github:{{repository.name}}", so that no payload can choose the whole key.`,
  },
  {
    name: 'a comparison in #if',
    mapping: `match: { path: a }
message: "{{#if action == 'opened'}}x{{/if}}"`,
    text: `
      error: \`message\` of mapping "a": a comparison is a helper [TEMPLATE_SYNTAX]
      hint: Write {{#if (eq action 'opened')}}.`,
  },
  {
    name: 'a comparison with one sign in #if',
    mapping: `match: { path: a }
message: "{{#if action = 'opened'}}x{{/if}}"`,
    text: `
      error: \`message\` of mapping "a": a comparison is a helper [TEMPLATE_SYNTAX]
      hint: Write {{#if (eq action 'opened')}}.`,
  },
  {
    name: 'a filter in a template',
    mapping: `match: { path: a }
message: "{{title | upcase}}"`,
    text: `
      error: \`message\` of mapping "a": letters are changed by an expression [TEMPLATE_SYNTAX]
      hint: Write vars: { upper: $uppercase(title) } and {{vars.upper}}.`,
  },
  {
    name: 'a helper of other engines',
    mapping: `match: { path: a }
message: "{{uppercase title}}"`,
    text: `
      error: \`message\` of mapping "a": letters are changed by an expression [TEMPLATE_SYNTAX]
      hint: Write vars: { upper: $uppercase(title) } and {{vars.upper}}.`,
  },
  {
    name: 'a field of n8n',
    mapping: `match: { path: a }
message: "{{ $json.title }}"`,
    text: `
      error: \`message\` of mapping "a": a field of the payload is its name alone [TEMPLATE_SYNTAX]
      hint: Write {{title}}.`,
  },
  {
    name: 'a field of Go',
    mapping: `match: { path: a }
message: "{{ .title }}"`,
    text: `
      error: \`message\` of mapping "a": a field is named without a dot before it [TEMPLATE_SYNTAX]
      hint: Write {{title}}.`,
  },
  {
    name: 'a method in a template',
    mapping: `match: { path: a }
message: "{{title.toUpperCase()}}"`,
    text: `
      error: \`message\` of mapping "a": letters are changed by an expression [TEMPLATE_SYNTAX]
      hint: Write vars: { upper: $uppercase(title) } and {{vars.upper}}.`,
  },
  {
    name: 'a choice with a question mark in a template',
    mapping: `match: { path: a }
message: "{{ draft ? 'a' : 'b' }}"`,
    text: `
      error: \`message\` of mapping "a": a choice is a block [TEMPLATE_SYNTAX]
      hint: Write {{#if draft}}one{{else}}other{{/if}}.`,
  },
  {
    name: 'blocks of Jinja',
    mapping: `match: { path: a }
message: "{% if draft %}Draft{% else %}Ready{% endif %}"`,
    text: `
      error: \`message\` of mapping "a": there are no blocks in \`{% … %}\`, which holds one expression [EXPRESSION_SYNTAX]
      hint: Write {{#if draft}}Draft{{else}}Ready{{/if}}, or {{#each commits}}{{this.message}}{{/each}}.`,
  },
  {
    name: 'a loop of Jinja',
    mapping: `match: { path: a }
message: "{% for c in commits %}{{c.message}}{% endfor %}"`,
    text: `
      error: \`message\` of mapping "a": there are no blocks in \`{% … %}\`, which holds one expression [EXPRESSION_SYNTAX]
      hint: Write {{#if draft}}Draft{{else}}Ready{{/if}}, or {{#each commits}}{{this.message}}{{/each}}.`,
  },
  {
    name: 'two expressions in one text',
    mapping: `match: { path: a }
message: "{% title %} by {% sender.login %}"`,
    text: `
      error: \`message\` of mapping "a": a text that begins and ends as an expression is one expression [EXPRESSION_SYNTAX]
      hint: Write placeholders: {{title}} by {{sender.login}}, or join texts: {% title & " by " & sender.login %}.`,
  },
  {
    name: 'elseif in one word',
    mapping: `match: { path: a }
message: "{{#if a}}x{{elseif b}}y{{/if}}"`,
    text: `
      error: \`message\` of mapping "a": \`else if\` is two words [TEMPLATE_SYNTAX]
      hint: Write {{else if b}}.`,
  },
  {
    name: 'the name of an element without bars',
    mapping: `match: { path: a }
message: "{{#each commits as commit}}{{commit.id}}{{/each}}"`,
    text: `
      error: \`message\` of mapping "a": the name of an element stands between bars [TEMPLATE_SYNTAX]
      hint: Write {{#each commits as |commit|}}…{{/each}}.`,
  },
  {
    name: 'a value in place of another, with bars',
    mapping: `match: { path: a }
message: "{{title || 'none'}}"`,
    text: `
      error: \`message\` of mapping "a": a value in place of another is a helper [TEMPLATE_SYNTAX]
      hint: Write {{default title 'none'}}.`,
  },
  {
    name: 'a value in place of another, with question marks',
    mapping: `match: { path: a }
message: "{{title ?? 'none'}}"`,
    text: `
      error: \`message\` of mapping "a": a value in place of another is a helper [TEMPLATE_SYNTAX]
      hint: Write {{default title 'none'}}.`,
  },
  {
    name: 'a block that compares',
    mapping: `match: { path: a }
message: "{{#ifEquals action 'opened'}}x{{/ifEquals}}"`,
    text: `
      error: \`message\` of mapping "a": a comparison is a helper [TEMPLATE_SYNTAX]
      hint: Write {{#if (eq action 'opened')}}…{{/if}}.`,
  },
  {
    name: 'a loop called for',
    mapping: `match: { path: a }
message: "{{#for commits}}x{{/for}}"`,
    text: `
      error: \`message\` of mapping "a": a loop is called \`each\` [TEMPLATE_SYNTAX]
      hint: Write {{#each commits}}…{{/each}}.`,
  },
  {
    name: 'a negation in #if',
    mapping: `match: { path: a }
message: "{{#if !draft}}x{{/if}}"`,
    text: `
      error: \`message\` of mapping "a": negation is a block [TEMPLATE_SYNTAX]
      hint: Write {{#unless draft}}…{{/unless}}.`,
  },
  {
    name: 'two conditions in #if',
    mapping: `match: { path: a }
message: "{{#if a && b}}x{{/if}}"`,
    text: `
      error: \`message\` of mapping "a": \`and\` is a helper [TEMPLATE_SYNTAX]
      hint: Write {{#if (and a b)}}.`,
  },
  {
    name: 'a function of JSONata in a template',
    mapping: `match: { path: a }
message: "{{$count(commits)}}"`,
    text: `
      error: \`message\` of mapping "a": a function of JSONata stands in an expression [TEMPLATE_SYNTAX]
      hint: Write vars: { value: $count(commits) } and {{vars.value}}.`,
  },
  {
    name: 'curly quotes in a template',
    mapping: `match: { path: a }
message: "{{default title “none”}}"`,
    text: `
      error: \`message\` of mapping "a": curly quotes are no quotes [TEMPLATE_SYNTAX]
      hint: Write " or ', as in {{default title "none"}}.`,
  },
  {
    name: 'a block closed by endif',
    mapping: `match: { path: a }
message: "{{#if a}}x{{#endif}}"`,
    text: `
      error: \`message\` of mapping "a": a block is closed by its own name [TEMPLATE_SYNTAX]
      hint: Write {{/if}} or {{/each}}.`,
  },
  {
    name: 'a block closed by end',
    mapping: `match: { path: a }
message: "{{#if a}}x{{end}}"`,
    text: `
      error: \`message\` of mapping "a": a block is closed by its own name [TEMPLATE_SYNTAX]
      hint: Write {{/if}} or {{/each}}.`,
  },
  {
    name: 'curly quotes in an expression',
    mapping: `match: { path: a, when: 'action = “opened”' }
message: x`,
    text: `
      error: \`match.when\` of mapping "a": curly quotes are no quotes [EXPRESSION_SYNTAX]
      hint: Write " or ', as in action = "opened".`,
  },
  {
    name: 'a pattern of Java in date',
    mapping: `match: { path: a }
message: '{{date at "yyyy-MM-dd"}}'`,
    text: `
      error: \`message\` of mapping "a": "date": "yyyy" is not part of a pattern, which knows YYYY MM DD HH mm ss Z [TEMPLATE_SYNTAX]
      hint: Write "YYYY-MM-DD".`,
  },
  {
    name: 'a pattern of Python in date',
    mapping: `match: { path: a }
message: '{{date at "%d.%m.%Y %H:%M"}}'`,
    text: `
      error: \`message\` of mapping "a": "date": "%d" is not part of a pattern, which knows YYYY MM DD HH mm ss Z [TEMPLATE_SYNTAX]
      hint: Write "DD.MM.YYYY HH:mm".`,
  },
  {
    name: 'twelve hours in date',
    mapping: `match: { path: a }
message: '{{date at "hh:mm A"}}'`,
    text: `
      error: \`message\` of mapping "a": "date": "hh" is not part of a pattern, which knows YYYY MM DD HH mm ss Z [TEMPLATE_SYNTAX]
      hint: Write "HH:mm".`,
  },
  {
    name: 'a month by its name in date',
    mapping: `match: { path: a }
message: '{{date at "MMM D, h:mm a"}}'`,
    text: `
      error: \`message\` of mapping "a": "date": "MMM" is not part of a pattern, which knows YYYY MM DD HH mm ss Z [TEMPLATE_SYNTAX]
      hint: Write "MM DD, HH:mm".`,
  },
  {
    name: 'minutes for months in date',
    mapping: `match: { path: a }
message: '{{date at "YYYY-mm-DD"}}'`,
    text: `
      error: \`message\` of mapping "a": "date": MM is the month, and mm is the minute [TEMPLATE_SYNTAX]
      hint: Write "YYYY-MM-DD".`,
  },
  {
    name: 'months for minutes in date',
    mapping: `match: { path: a }
message: '{{date at "HH:MM"}}'`,
    text: `
      error: \`message\` of mapping "a": "date": MM is the month, and mm is the minute [TEMPLATE_SYNTAX]
      hint: Write "HH:mm".`,
  },
  {
    name: 'words in the pattern of date',
    mapping: `match: { path: a }
message: '{{date at "DD.MM. HH:mm Uhr"}}'`,
    text: `
      error: \`message\` of mapping "a": "date": "Uhr" is not part of a pattern, which knows YYYY MM DD HH mm ss Z [TEMPLATE_SYNTAX]
      hint: Write words outside of the helper: {{date at "YYYY-MM-DD"}} at {{date at "HH:mm"}}.`,
  },
  {
    name: 'the pattern of date before the field',
    mapping: `match: { path: a }
message: '{{date "YYYY-MM-DD" at}}'`,
    text: `
      error: \`message\` of mapping "a": "date": the field with the time comes first [TEMPLATE_SYNTAX]
      hint: Write it like {{date created "YYYY-MM-DD HH:mm" tz="Europe/Berlin"}}.`,
  },
  {
    name: 'an unknown time zone in date',
    mapping: `match: { path: a }
message: '{{date at "HH:mm" tz="Berlin"}}'`,
    text: `
      error: \`message\` of mapping "a": "date": there is no time zone of that name [TEMPLATE_SYNTAX]
      hint: Write it like {{date created "YYYY-MM-DD HH:mm" tz="Europe/Berlin"}}.`,
  },
]

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { publishedPage, publishedReadme } from './readme.ts'

test('a README says how to install the package, names pages by command, and leaves out what is for authors', () => {
  const text = `# Runner \`ai\`

Asks a model: [agents](../../docs/agents.md#models), [presets](../../mappings/README.md), [code](./index.ts), [site](https://a.example).

\`\`\`yaml
## Decision: not a heading
\`\`\`

## Limits

None.

## Decision: why

Context.

## Tests

Some.
`
  assert.equal(
    publishedReadme(text, { name: '@reveille/plugin-ai', isIncluded: false }),
    `# Runner \`ai\`

A package of Reveille. Reveille is a webhook gateway that wakes AI agents: \`npx reveille\` starts one. Install it beside \`reveille.yaml\`:

\`\`\`sh
npm install @reveille/plugin-ai
\`\`\`

Asks a model: agents (\`reveille docs agents\`), presets (\`reveille docs presets\`), code, [site](https://a.example).

\`\`\`yaml
## Decision: not a heading
\`\`\`

## Limits

None.
`,
  )
  const included = publishedReadme('# Channel\n\nPrints.\n', { name: 'x', isIncluded: true })
  assert.match(included, /starts one\. It comes with the package `reveille`\.\n\nPrints\.\n$/)
})

test('a page keeps its links to other pages', () => {
  const text = '[a](../mappings.md#x), [b](../../mappings/README.md), [c](../../engine/index.ts), [d](#here)'
  assert.equal(
    publishedPage(text, 'reference/http.md'),
    '[a](../mappings.md#x), b (`reveille docs presets`), c, [d](#here)',
  )
})

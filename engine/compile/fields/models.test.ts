/** Tests which models and thinking levels are allowed, in requests and in mappings. */

import { testDecisions } from '../decision-fixture.ts'

const models = { allowed: ['openai/gpt-5', 'anthropic/claude-x'], aliases: { fast: 'openai/gpt-5' } }

testDecisions(
  String.raw`
# a request may name a listed model or an alias, and gets the model @ { request: { endpoint: agent } }
{ message: x, model: openai/gpt-5 } ¦ { message: x, model: fast } ⇒ { model: openai/gpt-5 }
{ message: x, model: anthropic/claude-x } ⇒ { model: anthropic/claude-x }
{ message: x, thinking: xhigh } ⇒ { thinking: xhigh }

# a model or level that is not allowed is refused in a request, and at load in a mapping @ { request: { endpoint: agent } }
{ message: x, model: openai/gpt-4 } ⇒ { code: MODEL_NOT_ALLOWED /model, says: '/model must be one of openai\/gpt-5, anthropic\/claude-x, or the alias fast/' }
{ message: x, model: openai/GPT-5 } ⇒ MODEL_NOT_ALLOWED /model
{ message: x, model: slow } ⇒ { code: MODEL_NOT_ALLOWED /model, says: '/model must be <provider>\/<model>, or the alias fast/' }
{ message: x, thinking: extreme } ⇒ { code: UNKNOWN_THINKING /thinking, says: '/must be one of off, minimal, low, medium, high, xhigh/' }
{ message: x, thinking: High } ⇒ UNKNOWN_THINKING /thinking
{ message: x, model: openai/gpt-4 } ⇒ {} ⇒ { load: MODEL_NOT_ALLOWED, says: '/^.model. of mapping "first": must be one of openai\/gpt-5, anthropic\/claude-x, or the alias fast$/' }
{ message: x, model: openai/GPT-5 } ⇒ {} ⇒ { load: MODEL_NOT_ALLOWED }
{ message: x, model: slow } ⇒ {} ⇒ { load: MODEL_NOT_ALLOWED, says: '/must be <provider>\/<model>, or the alias fast$/' }
{ message: x, thinking: extreme } ⇒ {} ⇒ { load: UNKNOWN_THINKING, says: '/^.thinking. of mapping "first": must be one of off, minimal, low, medium, high, xhigh$/' }
{ message: x, thinking: High } ⇒ {} ⇒ { load: UNKNOWN_THINKING }

# a mapping may use name or alias, and a rendered model is checked against the list as well
{ message: x, model: fast } ⇒ {} ⇒ { model: openai/gpt-5 }
{ message: x, model: '{{m}}', thinking: '{{t}}', allowPayloadRouting: true } ⇒ { m: fast, t: low } ⇒ { model: openai/gpt-5, thinking: low }
{ message: x, model: '{{m}}', allowPayloadRouting: true } ⇒ { m: openai/gpt-4 } ⇒ MODEL_NOT_ALLOWED /model
{ message: x, thinking: '{{t}}', allowPayloadRouting: true } ⇒ { t: extreme } ⇒ UNKNOWN_THINKING /thinking

# an expression may choose between literal models, each of which must be allowed
{ message: x, model: '{% $contains(title, /urgent/) ? "openai/gpt-5" : "anthropic/claude-x" %}' } ⇒ { title: urgent } ⇒ { model: openai/gpt-5 }
{ message: x, model: '{% $contains(title, /urgent/) ? "openai/gpt-5" : "anthropic/claude-x" %}' } ⇒ { title: later } ⇒ { model: anthropic/claude-x }
{ message: x, model: '{% urgent ? "fast" : "openai/gpt-4" %}' } ⇒ {} ⇒ { load: MODEL_NOT_ALLOWED, says: '/^.model. of mapping "first": must be one of/' }

# a transform that returns another model has failed, and the request is not at fault
{ message: x, transform: { module: a.ts } } ⇒ {} ⇒ { code: TRANSFORM_FAILED, reason: '/model must be one of openai\/gpt-5/' }
`,
  {},
  {
    defaults: { models },
    transforms: { 'a.ts': async () => ({ kind: 'one', action: { model: { value: 'openai/gpt-4' } } }) },
  },
)

testDecisions(`
# without a list any model of a provider is allowed @ { request: { endpoint: agent } }
{ message: x, model: a/b/c } ⇒ { model: a/b/c }

# a model that a mapping names needs a price where a budget in US dollars pays for its runs @ { agents: { budget: { usd: 1 } } }
{ message: x, model: ollama/llama } ⇒ {} ⇒ { load: MODEL_WITHOUT_PRICE }
{ message: x, model: openai/gpt-5 } ⇒ {} ¦ { message: x, model: '{{model}}', allowPayloadRouting: true } ⇒ {} ⇒ { warn: [] }
# a model with a price may be paid for @ { agents: { budget: { usd: 1 }, prices: { ollama/llama: { input: 0, output: 0 } } } }
{ message: x, model: ollama/llama } ⇒ {} ⇒ { warn: [] }
# without such a budget no price is needed
{ message: x, model: ollama/llama } ⇒ {} ⇒ { warn: [] }
`)

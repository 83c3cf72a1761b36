/** `reveille spend`: shows what turns have cost, by day, mapping, model or session, and what the month will come to. */

import type { SpendAnswer } from '../../api/index.ts'
import type { Cost } from '../../store/port.ts'
import { counted } from '../counted.ts'
import type { CommandOptions, Io } from '../io.ts'
import { formatTable } from '../table.ts'
import { openAdmin } from './admin-client.ts'
import { budgetText } from './status.ts'

export interface SpendOptions extends CommandOptions {
  readonly by: SpendAnswer['by']
  readonly since?: string
  readonly until?: string
  readonly limit?: number
  readonly cursor?: string
}

export async function spend(options: SpendOptions, io: Io): Promise<number> {
  const { config: _config, json, ...query } = options
  const admin = await openAdmin(options, io)
  const answer = (await admin.get('/api/spend', query)) as SpendAnswer
  if (json) {
    io.out(`${JSON.stringify(answer, null, 2)}\n`)
    return 0
  }
  const { items, since, until, today, month } = answer
  const header = [options.by.toUpperCase(), 'USD', 'TOKENS', 'RUNS', 'WITHOUT PRICE']
  io.out(
    items.length === 0
      ? `Nothing was spent from ${since} to ${until} (UTC).\n`
      : formatTable(
          header,
          items.map((item) => rowOf(item, options.by)),
          io.columns,
        ),
  )
  io.out(`\ntoday     ${dollars(today.usd)}\n`)
  for (const budget of today.budgets) io.out(`          ${budgetText(budget)}\n`)
  io.out(
    `${month.month}   ${dollars(month.usd)} so far, ${dollars(month.projectedUsd)} if the rest is like the last seven days\n`,
  )
  if (month.unpriced > 0)
    io.out(`          without ${counted(month.unpriced, 'turn')} whose cost is not known (agents.prices)\n`)
  if (answer.next !== undefined)
    io.err(
      `More: reveille spend --by ${options.by} --since ${since} --until ${until} --cursor ${answer.next}\n`,
    )
  return 0
}

function rowOf({ name, usd, tokens, runs, unpriced }: Cost, by: SpendAnswer['by']): readonly string[] {
  return [
    name === '' ? noName[by] : name,
    dollars(usd),
    tokens.toLocaleString('en'),
    runs.toLocaleString('en'),
    unpriced === 0 ? '' : unpriced.toLocaleString('en'),
  ]
}

/** What is shown of turns that have no such name. */
const noName: Readonly<Record<SpendAnswer['by'], string>> = {
  day: '',
  mapping: '(none)',
  model: "(the runner's own)",
  session: '(sessions without a given key)',
}

/** To a cent, and more finely below one. */
function dollars(usd: number): string {
  return `$${usd === 0 || usd >= 0.1 ? usd.toFixed(2) : usd.toPrecision(2)}`
}

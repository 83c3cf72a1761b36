/** Sets the clock of the process ahead by the milliseconds of `REVEILLE_TEST_CLOCK`, as on a machine whose clock is wrong. */

const { now } = Date
const ahead = Number(process.env.REVEILLE_TEST_CLOCK)

globalThis.Date = class extends Date {
  constructor(...given) {
    if (given.length === 0) super(now() + ahead)
    else super(...given)
  }

  static now() {
    return now() + ahead
  }
}

/** Thrown by a check that has used up its budget. */
export class BudgetExceeded extends Error {
  constructor() {
    super('the check took too long');
    this.name = 'BudgetExceeded';
  }
}

/**
 * What one check may spend, so that no schema and no value together can hold up the service: about 25 ns a unit on
 * the slowest machine measured, thus an eighth of a second. Checks are synchronous, and run one at a time.
 */
export interface CheckBudget {
  /** Begins a check anew. */
  start(): void;
  /** @throws BudgetExceeded when the check has spent more than it may. */
  charge(units: number): void;
  /** Charges the visit of a value by a schema, which `weight` schemas and keywords look at. */
  chargeVisit(value: unknown, weight: number): void;
}

const CHECK_UNITS_MAX = 5_000_000;
/** One schema looking at one small value, and refusing it. */
const VISIT_UNITS = 20;
/** Characters of a text, or elements of a list, that cost about a unit. */
const ELEMENTS_PER_UNIT = 2;

/** A budget for the checks of one compiler. */
export function createCheckBudget(): CheckBudget {
  let left = CHECK_UNITS_MAX;
  const charge = (units: number): void => {
    left -= units;
    if (left < 0) throw new BudgetExceeded();
  };
  return {
    start: () => {
      left = CHECK_UNITS_MAX;
    },
    charge,
    chargeVisit: (value, weight) => charge(weight * VISIT_UNITS + sizeOf(value)),
  };
}

function sizeOf(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value)) return Math.ceil(value.length / ELEMENTS_PER_UNIT);
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 0;
}

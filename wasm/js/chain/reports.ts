/** The client's reports as events. */
import type { PlainBranch, PlainReport, PlainTip } from "../../follow/pkg/randomx_follow_wasm.js";
import type { ChainBranch, ChainEvent, ChainTip, SourceState, SourceStatus } from "./types.js";

/** Returns the events of a report. It updates the states of the sources. */
export function eventsOf(
  report: PlainReport,
  failure: string | undefined,
  sources: SourceStatus[],
): ChainEvent[] {
  switch (report.report) {
    case "tip":
      return [{ type: "tip", tip: tipOf(report.tip) }];
    case "reorg":
      return [{ type: "reorg", tip: tipOf(report.tip), ...replaced(report.fork) }];
    case "deep-reorg":
      return withSource(sources, report.source, (source) => [
        { type: "deep-reorg", source, ...replaced(report.fork) },
      ]);
    case "disagreement":
      return withSource(sources, report.source, (source) => {
        const { common, reverted: ours, adopted: theirs } = replaced(report.fork);
        const { evidence } = report;
        return [{ type: "disagreement", source, common, ours, theirs, evidence }];
      });
    case "source": {
      const { state, evidence, height, version } = report;
      const reason = report.reason ?? failure;
      return withSource(sources, report.source, ({ index, kind, url }) => {
        const source: SourceStatus = {
          ...{ index, kind, url, state: state as SourceState },
          ...(reason === undefined ? {} : { reason }),
        };
        sources[index] = { ...source };
        return [
          { type: "source", source, ...(evidence ? { evidence } : {}) },
          ...(source.state === "update-needed"
            ? [{ type: "update-needed", source, height, version } as const]
            : []),
        ];
      });
    }
    case "alarm": {
      const { alarm, age, took, expected } = report;
      if (alarm === "stale") return [{ type: "stale", alarm, age }];
      if (alarm === "slow") return [{ type: "stale", alarm, took, expected }];
      return [{ type: "stale", alarm: "cleared" }];
    }
  }
}

/** Returns a tip. */
export function tipOf({ height, id, timestamp, work }: PlainTip): ChainTip {
  return { height, id, timestamp, work: BigInt(work) };
}

function replaced({
  height,
  id,
  ours,
  theirs,
}: Extract<PlainReport, { report: "reorg" }>["fork"]): {
  common: { height: number; id: string };
  depth: number;
  reverted: ChainBranch;
  adopted: ChainBranch;
} {
  return {
    common: { height, id },
    depth: ours.ids.length,
    reverted: branch(height, ours),
    adopted: branch(height, theirs),
  };
}

function branch(common: number, { ids, work }: PlainBranch): ChainBranch {
  return {
    blocks: ids.map((id, index) => ({ height: common + 1 + index, id })),
    work: BigInt(work),
  };
}

function withSource(
  sources: readonly SourceStatus[],
  index: number,
  events: (source: SourceStatus) => ChainEvent[],
): ChainEvent[] {
  const source = sources[index];
  return source ? events({ ...source }) : [];
}

/** The part of the configuration that says what is sent by OTLP. */
export interface TelemetrySettings {
  /** Address of a collector; `''` sends nothing. */
  readonly otlp_url: string;
  /** Share of the requests that begin a trace, 0 to 1. */
  readonly trace_share: number;
  /** Time between two sendings of the metrics, milliseconds. */
  readonly metrics_period: number;
}

/** A request that has been answered. Ids of users and items are no part of it. */
export interface AnsweredRequest {
  /** The header of W3C Trace Context, `''` where the caller sent none. */
  readonly traceParent: string;
  readonly method: string;
  /** The path of its route with the names of its parameters, or `none`. */
  readonly route: string;
  readonly status: number;
  readonly requestId: string;
  /** Of `performance.now()`. */
  readonly startMs: number;
  readonly endMs: number;
}

export interface Telemetry {
  /** Makes a span of a request that belongs to a trace, or begins one. */
  note(request: AnsweredRequest): void;
  /** Sends what waits, some seconds at most. */
  stop(): Promise<void>;
}

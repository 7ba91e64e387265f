/// What a process says to whoever started it. The README documents it.
public enum ExitCode: Int32, Sendable {
    /// Done; with `start --wait` and `demo`: the crawl's verdict is `complete`. A worker that was asked to stop has stopped
    /// in order.
    case success = 0
    /// It could not be done: Kafka out of reach, the worker fenced, no time left to stop in order.
    case failure = 1
    /// The command line or a configuration file cannot be used. Nothing was begun.
    case usage = 2
    /// The crawl ended with another verdict than `complete`.
    case notComplete = 3
}

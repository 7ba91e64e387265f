import Crawl
import HTTP
import YAML

/// A source file: everything that one upstream needs, decoded and checked.
public struct SourceFile: Sendable {
    public var name: String
    /// What the stop rules need to know.
    public var pagination: Pagination
    public var retry: RetryPolicy
    public var output: Output
    public var pace: Pace
    /// What one request may cost.
    public var limits: HTTPLimits
    var request: RequestPlan
    var paging: PagingPlan
    var extraction: ExtractionPlan

    /// How fast the upstream may be asked.
    public struct Pace: Sendable, Hashable {
        /// Requests of one worker to this source at once. Defaults to 64.
        public var maxInFlight: Int
        /// For all workers together; `nil` for no limit.
        public var requestsPerSecond: Double?
    }

    /// The names in `{{ }}` that a job has to bring values for.
    public var params: Set<String> {
        var names: Set<String> = []
        for template in request.templates { names.formUnion(template.params) }
        for place in [paging.strategy.place, paging.limitPlace] {
            if case .path(let name) = place { names.remove(name) }
        }
        return names
    }
}

extension PagingPlan.Strategy {
    /// Where the page number, the offset or the cursor goes.
    var place: Placement? {
        switch self {
        case .pageNumber(_, let place), .offset(_, let place), .cursor(let place, _): place
        case .link, .headerLink, .singlePage: nil
        }
    }
}

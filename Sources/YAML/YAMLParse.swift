extension YAMLNode {
    /// More levels, nodes or bytes than any configuration has.
    private static let maxDepth = 64
    private static let maxNodes = 100_000
    private static let maxBytes = 4 << 20

    /// Reads exactly one document.
    ///
    /// Anchors and aliases are followed, up to 100,000 nodes in all. Refused, each with the place: keys that are there
    /// twice (YAML 1.2.2, section 3.2.1.1), keys that are no scalars, merge keys (`<<`), tags other than `!!str`,
    /// an alias inside its own anchor, more than 64 levels, a second document, no document.
    public static func parse(_ text: String) throws(YAMLError) -> YAMLNode { try parse(Array(text.utf8)) }

    /// Reads exactly one document in UTF-8.
    public static func parse(_ bytes: [UInt8]) throws(YAMLError) -> YAMLNode {
        let start = YAMLPlace(line: 1, column: 1)
        guard bytes.count <= maxBytes else {
            throw YAMLError("the file has \(bytes.count) bytes, more than \(maxBytes)", at: start)
        }
        let events = try YAMLEvents(bytes)
        _ = try events.next()
        guard case .documentStart = try events.next().kind else { throw YAMLError("there is no document", at: start) }
        var composer = Composer(events: events)
        let node = try composer.node(try events.next(), depth: 0)
        _ = try events.next()
        let after = try events.next()
        guard case .streamEnd = after.kind else {
            throw YAMLError("a second document begins here; a file has one", at: after.place)
        }
        return node
    }

    /// Makes nodes of events. Its recursion is limited by `maxDepth`.
    private struct Composer {
        let events: YAMLEvents
        /// Finished nodes with an anchor, and how many nodes each has.
        private var anchored: [String: (node: YAMLNode, nodes: Int, depth: Int)] = [:]
        /// Anchors of nodes that are not finished.
        private var open: Set<String> = []
        private var nodes = 0
        /// The deepest level since the innermost anchor began.
        private var deepest = 0

        init(events: YAMLEvents) { self.events = events }

        mutating func node(_ event: YAMLEvent, depth: Int) throws(YAMLError) -> YAMLNode {
            if case .alias(let name) = event.kind { return try alias(name, event, depth: depth) }
            try count(1, depth: depth, at: event.place)
            guard let anchor = event.anchor else { return try content(event, depth: depth) }
            let before = nodes - 1
            let outer = deepest
            deepest = depth
            open.insert(anchor)
            let node = try content(event, depth: depth)
            open.remove(anchor)
            anchored[anchor] = (node, nodes - before, deepest - depth)
            deepest = max(outer, deepest)
            return node
        }

        private mutating func content(_ event: YAMLEvent, depth: Int) throws(YAMLError) -> YAMLNode {
            switch event.kind {
            case .scalar(let scalar): return YAMLNode(.scalar(try tagged(scalar, event)), at: event.place)
            case .sequenceStart:
                try refuseTag(event)
                return YAMLNode(.sequence(try elements(depth: depth + 1)), at: event.place)
            case .mappingStart:
                try refuseTag(event)
                return YAMLNode(.mapping(try entries(depth: depth + 1)), at: event.place)
            case .alias, .streamStart, .streamEnd, .documentStart, .documentEnd, .sequenceEnd, .mappingEnd:
                throw YAMLError("a value is missing", at: event.place)
            }
        }

        private mutating func elements(depth: Int) throws(YAMLError) -> [YAMLNode] {
            var elements: [YAMLNode] = []
            while true {
                let event = try events.next()
                if case .sequenceEnd = event.kind { return elements }
                elements.append(try node(event, depth: depth))
            }
        }

        private mutating func entries(depth: Int) throws(YAMLError) -> [YAMLEntry] {
            var entries: [YAMLEntry] = []
            var places: [String: YAMLPlace] = [:]
            while true {
                let event = try events.next()
                if case .mappingEnd = event.kind { return entries }
                let key = try key(event, depth: depth)
                if let first = places.updateValue(event.place, forKey: key) {
                    throw YAMLError(
                        "the key \"\(key)\" is here a second time; the first is in line \(first.line)", at: event.place)
                }
                let value = try node(try events.next(), depth: depth)
                entries.append(YAMLEntry(key: key, keyPlace: event.place, value: value))
            }
        }

        private mutating func key(_ event: YAMLEvent, depth: Int) throws(YAMLError) -> String {
            guard case .scalar(let scalar) = try node(event, depth: depth).content else {
                throw YAMLError("a key must be plain text", at: event.place)
            }
            guard scalar != YAMLScalar("<<") else {
                throw YAMLError("merge keys (\"<<\") are not supported; write the keys out", at: event.place)
            }
            return scalar.text
        }

        private mutating func alias(_ name: String, _ event: YAMLEvent, depth: Int) throws(YAMLError) -> YAMLNode {
            guard !open.contains(name) else {
                throw YAMLError("*\(name) stands inside of what &\(name) names", at: event.place)
            }
            guard let target = anchored[name] else {
                throw YAMLError("*\(name) refers to nothing: no &\(name) comes before it", at: event.place)
            }
            try count(target.nodes, depth: depth + target.depth, at: event.place)
            return target.node
        }

        private mutating func count(_ more: Int, depth: Int, at place: YAMLPlace) throws(YAMLError) {
            nodes += more
            deepest = max(deepest, depth)
            guard nodes <= maxNodes else {
                throw YAMLError("more than \(maxNodes) values, aliases counted as what they stand for", at: place)
            }
            guard depth <= maxDepth else { throw YAMLError("nested deeper than \(maxDepth) levels", at: place) }
        }

        private func tagged(_ scalar: YAMLScalar, _ event: YAMLEvent) throws(YAMLError) -> YAMLScalar {
            // A bare "!" says "not plain" (YAML 1.2.2, section 6.9.1).
            if event.tag == "tag:yaml.org,2002:str" || event.tag == "!" {
                return YAMLScalar(scalar.text, style: .quoted)
            }
            try refuseTag(event)
            return scalar
        }

        private func refuseTag(_ event: YAMLEvent) throws(YAMLError) {
            guard let tag = event.tag else { return }
            throw YAMLError("the tag \(tag) is not supported", at: event.place)
        }
    }
}

import Crawl

// What a transaction promises: all of it or nothing, and every byte.

extension ConformanceStage {
    func committedStepIsVisibleAsAWhole() async throws {
        let raw = ReceivedRecord(key: [1, 2], value: Array("no job".utf8))
        let first = try await produce("a", to: 0)
        let unusable = try await log.produce(.raw(raw), to: 1)
        let member = try await joinAlone()
        let job = try await member.job(0, at: first.offset)
        let received = try await member.job(1, at: unusable.offset)
        var transaction = Transaction(
            [.sample("a", 1, in: 0, goesOn: true), .sample("b", 1, in: 1)],
            at: [
                .init(owned: job.owned, next: first.offset + 1),
                .init(owned: received.owned, next: unusable.offset + 1),
            ])
        transaction.deadLetters = [
            DeadLetter(
                kind: .malformedJob, reason: "not a job", content: .received(received.received), partition: 1,
                position: received.position, attempts: 1)
        ]
        try await member.commit(transaction)
        try await expect("pages", [log.pages(of: 0).map(\.crawl), log.pages(of: 1).map(\.crawl)], is: [["a"], ["b"]])
        try await expect("records of a", log.records(of: 0).map(\.record?.step), is: [1])
        try await expect("records of b", log.records(of: 1).map(\.record?.status), is: [.ended])
        try await expect("dead letters", log.deadLetters().map(\.kind), is: [.malformedJob])
        try await expect("offsets", log.committedOffsets(), is: [0: first.offset + 1, 1: unusable.offset + 1])
        let next = try await member.wait(for: "the next job") { seen in
            seen.jobs.last { $0.owned.partition == 0 && $0.position.offset > first.offset }
        }
        guard case .job(let comesBack) = next.content else {
            throw ConformanceFailure("the next job is \(next.content)")
        }
        try expect("the next job", comesBack, is: transaction.steps[0].next)
    }

    func abortedTransactionIsInvisible() async throws {
        let first = try await produce("a")
        let member = try await joinAlone()
        let job = try await member.job(0, at: first.offset)
        let transaction = Transaction(
            [.sample("a", goesOn: true)], at: [.init(owned: job.owned, next: first.offset + 1)])
        try await log.abortNextCommit(of: member.log)
        let outcome = try await member.log.commit(transaction)
        try expect(outcome != .committed, "a transaction that was to be aborted is \(outcome)")
        try await expectNothingVisible()
        // The next job of the aborted step must not come; what is produced afterwards does.
        let after = try await produce("b")
        _ = try await member.job(0, at: after.offset)
        let offsets = member.receiver.seen.offsets(of: 0)
        try expect("delivered offsets", offsets, is: [first.offset, after.offset])
    }

    func abortedWorkCommitsAgain() async throws {
        let first = try await produce("a")
        let member = try await joinAlone()
        let job = try await member.job(0, at: first.offset)
        let transaction = Transaction([.sample("a")], at: [.init(owned: job.owned, next: first.offset + 1)])
        try await log.abortNextCommit(of: member.log)
        _ = try await member.log.commit(transaction)
        try await member.commit(transaction)
        try await expect("pages", log.pages(of: 0).map(\.number), is: [1])
        try await expect("offsets", log.committedOffsets(), is: [0: first.offset + 1])
    }

    func expectNothingVisible() async throws {
        for partition in 0..<log.partitions {
            try await expect("pages of \(partition)", log.pages(of: partition), is: [])
            try await expect("records of \(partition)", log.records(of: partition), is: [])
        }
        try await expect("dead letters", log.deadLetters(), is: [])
        try await expect("offsets", log.committedOffsets(), is: [:])
    }

    func offsetsAloneCommit() async throws {
        let first = try await produce("a")
        let member = try await joinAlone()
        let job = try await member.job(0, at: first.offset)
        try await member.commit(Transaction([], at: [.init(owned: job.owned, next: first.offset + 1)]))
        try await expect("offsets", log.committedOffsets(), is: [0: first.offset + 1])
        // An offset that does not move is sent all the same, to protect what else is in the transaction.
        try await member.commit(
            Transaction([.sample("a")], at: [.init(owned: job.owned, next: first.offset + 1)]))
        try await expect("offsets", log.committedOffsets(), is: [0: first.offset + 1])
        try await expect("pages", log.pages(of: 0).count, is: 1)
    }

    func bigBatchArrivesWhole() async throws {
        let first = try await produce("a")
        let member = try await joinAlone()
        let job = try await member.job(0, at: first.offset)
        let large = "\"" + String(repeating: "x", count: member.log.maxItemBytes - 2) + "\""
        let many = (0..<300).map { "{\"id\":\($0),\"text\":\"\(String(repeating: "y", count: 10_000))\"}" }
        let steps: [Step] = [.sample("a", items: many + [large]), .sample("b", items: [large, large, "3"])]
        try await member.commit(Transaction(steps, at: [.init(owned: job.owned, next: first.offset + 1)]))
        let pages = try await log.pages(of: 0)
        try expect("pages", pages.map(\.crawl), is: ["a", "b"])
        try expect(pages[0].items == many + [large], "the items of a big page are not what they were")
        try expect(pages[1].items == [large, large, "3"], "items of the largest size are not what they were")
    }

    func itemsArriveByteForByte() async throws {
        let items = [
            #"{"id":18446744073709551616,"price":1.0,"e":1E5,"id":2}"#, #"{ "z" : 1 , "a" : [ ] }"#,
            #""\ud800 \u00e9 é \/ 𝄞""#, "null", "0", #"[1,"\n"]"#, "{}",
        ]
        let first = try await produce("a")
        let member = try await joinAlone()
        let job = try await member.job(0, at: first.offset)
        try await member.commit(
            Transaction([.sample("a", items: items)], at: [.init(owned: job.owned, next: first.offset + 1)]))
        try await expect("items", log.pages(of: 0).first?.items, is: items)
    }

    func deadLetterCarriesTheBytesUntouched() async throws {
        let header = ReceivedRecord.Header(name: Array("trace".utf8), value: [0xff, 0x00])
        let records = [
            ReceivedRecord(
                key: [0xff, 0xfe], value: nil, headers: [header, .init(name: Array("none".utf8), value: nil)]),
            ReceivedRecord(key: nil, value: [], headers: []),
            ReceivedRecord(key: [], value: Array("{\"source\":".utf8) + [0xc3, 0x28], headers: [header, header]),
        ]
        for record in records { _ = try await log.produce(.raw(record), to: 0) }
        let member = try await joinAlone()
        let jobs = try await member.wait(for: "\(records.count) messages") { seen in
            seen.jobs.count == records.count ? seen.jobs : nil
        }
        var transaction = Transaction()
        for job in jobs {
            guard case .unusable(let kind, let reason) = job.content else {
                throw ConformanceFailure("bytes that are no job were delivered as \(job.content)")
            }
            transaction.deadLetters.append(
                DeadLetter(
                    kind: kind, reason: reason, content: .received(job.received), partition: 0, position: job.position,
                    attempts: 1))
        }
        transaction.offsets = [.init(owned: jobs[0].owned, next: jobs[jobs.count - 1].position.offset + 1)]
        try await member.commit(transaction)
        try await expect("dead letters", log.deadLetters().map(\.record), is: records)
    }
}

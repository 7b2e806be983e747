import Foundation

extension UpstreamFixtures {
    /// Mode and numbers.
    var summary: JSONObject { withFiles { self.summary($0) } }

    private func summary(_ state: State) -> JSONObject {
        JSONObject(members: [
            .init(name: "name", value: .string(name)), .init(name: "mode", value: .string(state.mode.rawValue)),
            .init(name: "folder", value: (state.folder?.url.path).map { .string($0) } ?? .null),
            .init(name: "exchanges", value: .integer(state.folder?.exchanges.count ?? 0)),
            .init(name: "patches", value: .integer(state.folder?.patches.count ?? 0)),
            .init(name: "broken", value: .array((state.folder?.defects ?? []).map(\.json))),
        ])
    }

    /// The same with the files, and with what the requests since the mode was set have met.
    var details: JSONObject {
        withFiles { state in
            var members = self.summary(state).members
            let files = (state.folder?.exchanges ?? []).map { fixture -> JSONValue in
                [
                    "file": .string(fixture.name), "request": .string(fixture.match.line),
                    "status": .integer(fixture.status),
                    "recorded": fixture.mode.map { .string($0.rawValue) } ?? .null,
                    "uses": .integer(state.uses[fixture.name] ?? 0),
                ]
            }
            members.append(.init(name: "files", value: .array(files)))
            members.append(.init(name: "unmatched", value: .array(state.unmatched)))
            members.append(.init(name: "suspected", value: .array(state.suspected)))
            members.append(.init(name: "differences", value: .array(state.differences.map(\.json))))
            return JSONObject(members: members)
        }
    }
}

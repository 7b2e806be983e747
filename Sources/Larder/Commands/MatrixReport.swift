import Foundation
import JSONValues
import Sandbox

/// The results of a command that ran under several conditions, and the outcomes of each route under each condition.
struct MatrixReport {
    private static let widest = 40

    private let runs: [ExecutedCommand.Run]
    private let met: [Set<FrontCoverage.Met>]

    init(_ runs: [ExecutedCommand.Run], _ coverage: FrontCoverage) {
        self.runs = runs
        met = runs.map { coverage.met(under: $0.condition) }
    }

    /// The output of the runs that failed, and the table.
    var text: String {
        let failed = runs.filter { $0.code != 0 }.map {
            "== \($0.condition): exit code \($0.code)\n\($0.output)\($0.output.hasSuffix("\n") ? "" : "\n")"
        }
        return failed.joined() + "\n" + table.map { Self.line($0, widths) + "\n" }.joined()
    }

    private var table: [[String]] {
        let routes = Set(met.joined().map(\.route)).sorted { ($0.dropMethod, $0) < ($1.dropMethod, $1) }
        let rows = routes.map { route in
            [route] + met.map { all in all.filter { $0.route == route }.sorted().map(\.text).joined(separator: ", ") }
        }
        let results = runs.map { $0.code == 0 ? "passed" : "failed (\($0.code))" }
        return [["screen"] + runs.map(\.condition), ["the whole suite"] + results] + rows
    }

    private var widths: [Int] {
        (0...runs.count).map { column in min(Self.widest, table.map { $0[column].count }.max() ?? 0) }
    }

    private static func line(_ cells: [String], _ widths: [Int]) -> String {
        let padded = zip(cells, widths).map { $0 + String(repeating: " ", count: max(0, $1 - $0.count)) }
        return padded.joined(separator: "  ").trimmingCharacters(in: .whitespaces)
    }
}

extension String {
    fileprivate var dropMethod: Substring { drop { $0 != " " } }
}

/// The responses of the contract that clients have got: the successes of each operation, and the codes of its problems.
/// Apps without any request are not counted.
struct ContractCoverage {
    private let expected: Set<FrontCoverage.Met>
    private let met: Set<FrontCoverage.Met>
    private let states: Set<FrontCoverage.Met>

    init(of document: JSONValue, met all: Set<FrontCoverage.Met>) {
        let apps = Set(all.map { Self.app($0.route) })
        expected = Self.responses(of: document).filter { apps.contains(Self.app($0.route)) }
        met = expected.intersection(
            all.map { $0.status < 400 ? .init(route: $0.route, status: $0.status, state: "") : $0 }
        )
        states = all.filter { $0.status < 400 && !$0.state.isEmpty }
    }

    var percent: Int { expected.isEmpty ? 0 : met.count * 100 / expected.count }

    /// A line for each route, with the states that were met and those that were not.
    var text: String {
        let routes = Set(expected.map(\.route)).sorted()
        let lines = routes.map { route in
            let seen = (met.union(states)).filter { $0.route == route }.sorted().map(\.text)
            let open = expected.subtracting(met).filter { $0.route == route }.sorted().map(\.text)
            return "\(route)\n  met    \(seen.joined(separator: ", "))\n  not    \(open.joined(separator: ", "))\n"
        }
        return "\n" + lines.joined() + "\(met.count) of \(expected.count) responses of the contract, \(percent) %\n"
    }

    /// Returns `GET /v1/ships` for `GET /v1/ships/{id}`: the path of the app.
    private static func app(_ route: String) -> Substring {
        (route.split(separator: " ").last ?? "").split(separator: "/").prefix(2).last ?? ""
    }

    private static func responses(of document: JSONValue) -> Set<FrontCoverage.Met> {
        var found: Set<FrontCoverage.Met> = []
        for path in document.object?["paths"]?.object?.members ?? [] {
            for operation in path.value.object?.members ?? [] {
                let route = "\(operation.name.uppercased()) \(path.name)"
                for response in operation.value.object?["responses"]?.object?.members ?? [] {
                    guard let status = Int(response.name) else { continue }
                    let codes = codes(of: response.value, in: document)
                    if status < 400 { found.insert(.init(route: route, status: status, state: "")) }
                    for code in codes { found.insert(.init(route: route, status: status, state: code)) }
                }
            }
        }
        return found
    }

    private static func codes(of response: JSONValue, in document: JSONValue) -> [String] {
        let content = response.resolved(in: document).object?["content"]?.object?["application/problem+json"]?.object
        return content?["x-problem-codes"]?.array?.compactMap(\.string) ?? []
    }
}

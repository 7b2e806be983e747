import Foundation
import JSONValues
import Sandbox
import Screens
import Storage

/// Fills a server with the seeds of a document, all or nothing.
struct ServerSeed: Sendable {
    /// The member with accounts, which may belong to any app.
    private static let accounts = "accounts"

    private let apps: [(name: String, seeding: Seeding)]
    private let database: LarderDatabase

    init(_ apps: [(name: String, seeding: Seeding)], _ database: LarderDatabase) {
        self.apps = apps
        self.database = database
    }

    /// The accepted members, in the order in which they are stored.
    var members: [String] { [Self.accounts] + apps.flatMap { $0.seeding.members.keys.sorted() } }

    /// Stores a document.
    ///
    /// - Throws: ``SeedRefusal``; `StorageError`. Nothing is stored in that case.
    func store(_ document: [UInt8]) async throws -> SeedReport {
        let values: JSONObject
        do {
            values = try JSONFields(Data(document)).values
        } catch let problem as Problem {
            throw SeedRefusal(problem, at: "")
        }
        var plan = Plan()
        for member in members { await read(member, values[member], &plan) }
        do {
            guard plan.faults.isEmpty else { throw SeedRefusal(plan.faults) }
            try await database.write { [steps = plan.steps] db in
                for (pointer, step) in steps {
                    do { try step.store(db) } catch let problem as Problem { throw SeedRefusal(problem, at: pointer) }
                }
            }
        } catch {
            for (_, step) in plan.steps { step.discarded() }
            throw error
        }
        for (_, step) in plan.steps { step.stored() }
        return SeedReport(accounts: plan.accounts, counts: plan.counts)
    }

    private struct Plan {
        var steps: [(pointer: String, step: SeedStep)] = []
        var faults: [SeedRefusal.Fault] = []
        var accounts: [SeedReport.Account] = []
        var counts: [String: Int] = [:]
    }

    private func read(_ member: String, _ value: JSONValue?, _ plan: inout Plan) async {
        guard let value else { return }
        guard case .array(let items) = value else {
            return plan.faults.append(.init(pointer: "/\(member)", code: "invalid", detail: "It is an array."))
        }
        plan.counts[member] = items.count
        for (index, item) in items.enumerated() {
            let pointer = "/\(member)/\(index)"
            do {
                guard case .object(let values) = item else {
                    throw SeedRefusal([.init(pointer: pointer, code: "invalid", detail: "It is an object.")])
                }
                let fields = JSONFields(values)
                plan.steps.append(
                    (pointer, try await member == Self.accounts ? account(fields, &plan) : step(member, fields))
                )
            } catch let problem as Problem {
                plan.faults += SeedRefusal(problem, at: pointer).all
            } catch let refusal as SeedRefusal {
                plan.faults += refusal.all
            } catch {
                plan.faults.append(.init(pointer: pointer, code: "failed", detail: "\(error)"))
            }
        }
    }

    private func step(_ member: String, _ fields: JSONFields) async throws -> SeedStep {
        for app in apps {
            if let item = app.seeding.members[member] { return try await item(fields) }
        }
        throw SeedRefusal([.init(pointer: "", code: "unknown", detail: "No app takes it.")])
    }

    private func account(_ fields: JSONFields, _ plan: inout Plan) async throws -> SeedStep {
        let name = try fields.string("app")
        guard let read = apps.first(where: { $0.name == name })?.seeding.account else {
            let known = apps.filter { $0.seeding.account != nil }.map(\.name).joined(separator: ", ")
            let code = name == nil ? "required" : "unknown"
            throw Problem.validation([.field("/app", code, "Apps with accounts: \(known).")])
        }
        let token = try fields.string("token") ?? SessionToken.make()
        let step = try await read(fields, token)
        plan.accounts.append(.init(app: name ?? "", name: try fields.string("name"), token: token))
        return step
    }
}

extension SeedRefusal {
    /// Makes a refusal from a problem.
    ///
    /// - Parameter pointer: The place of the item to whose fields the problem's pointers refer.
    init(_ problem: Problem, at pointer: String) {
        let faults = problem.errors.map {
            Fault(pointer: pointer + ($0.pointer ?? ""), code: $0.code, detail: $0.detail[.english])
        }
        let whole = Fault(pointer: pointer, code: problem.code.rawValue, detail: problem.detail[.english])
        self.init(faults.isEmpty ? [whole] : faults)
    }
}

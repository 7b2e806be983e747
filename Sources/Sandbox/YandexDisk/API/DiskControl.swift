import Foundation
import HTTPTypes
import JSONValues

/// One change by the control API.
struct DiskControl {
    var model: DiskModel
    let fields: ControlFields
    let now: Date

    mutating func make(_ call: String) throws(ControlProblem) -> JSONValue {
        switch call {
        case "files": try writeFile()
        case "folders": try makeFolder()
        case "remove": try remove()
        case "move": try move()
        case "fill": try fill()
        case "quota": try setQuota()
        case "operations": try setOperations()
        case "links": try setLinks()
        case "links/expire": expireLinks()
        case "failures": try plan()
        default: [:]
        }
    }

    private func account() throws(ControlProblem) -> Int {
        let login = try fields.text("account") ?? "anna"
        guard let account = model.account(login: login) else {
            throw .invalid(field: "account", value: login, accepted: model.trees.map(\.account.login))
        }
        return account
    }

    private func path(_ name: String) throws(ControlProblem) -> DiskPath {
        let text = try fields.required(name, try fields.text(name))
        guard let path = try? DiskPath(text), !path.names.isEmpty else {
            throw .invalid(field: name, value: text, accepted: ["disk:/…"])
        }
        return path
    }

    private func node(_ path: DiskPath, _ account: Int) throws(ControlProblem) -> DiskNode {
        guard let node = model.trees[account].node(at: path) else { throw .notFound("There is no \(path).") }
        return node
    }

    private mutating func writeFile() throws(ControlProblem) -> JSONValue {
        try fields.require(only: "account", "path", "text", "base64")
        let account = try account()
        let path = try path("path")
        var bytes: [UInt8]
        if let text = try fields.text("base64") {
            guard let data = Data(base64Encoded: text) else {
                throw .invalid(field: "base64", value: String(text.prefix(60)), accepted: ["base64"])
            }
            bytes = Array(data)
        } else {
            bytes = Array((try fields.text("text") ?? "").utf8)
        }
        try clearWay(to: path, account)
        let content = DiskContent(ReceivedBody(bytes))
        model.store(content, at: path, account: account, at: now)
        return ["path": .string(path.description), "size": .integer(content.size), "md5": .string(content.md5)]
    }

    private mutating func makeFolder() throws(ControlProblem) -> JSONValue {
        try fields.require(only: "account", "path")
        let account = try account()
        let path = try path("path")
        try clearWay(to: path.appending(""), account)
        _ = model.folder(path, account, at: now)
        return ["path": .string(path.description)]
    }

    /// Checks that no file is above the path.
    private func clearWay(to path: DiskPath, _ account: Int) throws(ControlProblem) {
        var above = path.parent
        while !above.names.isEmpty {
            if let node = model.trees[account].node(at: above), !node.isDirectory {
                throw .conflict("\(above) is a file.")
            }
            above = above.parent
        }
    }

    private mutating func remove() throws(ControlProblem) -> JSONValue {
        try fields.require(only: "account", "path")
        let account = try account()
        let path = try path("path")
        model.trees[account].remove(try node(path, account).id, at: now)
        return ["path": .string(path.description)]
    }

    private mutating func move() throws(ControlProblem) -> JSONValue {
        try fields.require(only: "account", "from", "to")
        let account = try account()
        let (source, target) = (try path("from"), try path("to"))
        do throws(DiskFailure) {
            try model.perform(.move(source, to: target, overwrite: false), account: account, at: now)
        } catch {
            throw .conflict(error.description)
        }
        return ["path": .string(target.description)]
    }

    private mutating func fill() throws(ControlProblem) -> JSONValue {
        try fields.require(only: "account", "path", "count")
        let account = try account()
        let path = try path("path")
        let count = try fields.required("count", try fields.integer("count", in: 1...100_000))
        try clearWay(to: path.appending(""), account)
        let folder = model.folder(path, account, at: now)
        let digits = 6
        for number in 1...count {
            let text = String(number)
            let name = "Файл \(String(repeating: "0", count: max(0, digits - text.count)))\(text).txt"
            guard model.trees[account].nodes[folder]?.children?[NameKey(name)] == nil else { continue }
            model.trees[account].add(name, to: folder, content: DiskContent(.text("Файл номер \(number).\n")), at: now)
        }
        return [
            "path": .string(path.description),
            "children": .integer(model.trees[account].nodes[folder]?.children?.count ?? 0),
        ]
    }

    private mutating func setQuota() throws(ControlProblem) -> JSONValue {
        try fields.require(only: "account", "total_space", "max_file_size")
        let account = try account()
        let range = 0...(1 << 50)
        if let total = try fields.integer("total_space", in: range) { model.trees[account].totalSpace = total }
        if let maximum = try fields.integer("max_file_size", in: range) { model.trees[account].maximumFile = maximum }
        return [
            "total_space": .integer(model.trees[account].totalSpace),
            "max_file_size": .integer(model.trees[account].maximumFile),
            "used_space": .integer(model.trees[account].usedSpace().all),
        ]
    }

    /// A missing member gets its initial value.
    private mutating func setOperations() throws(ControlProblem) -> JSONValue {
        enum Status: String, CaseIterable { case success, failed }
        try fields.require(only: "calls", "folders", "polls", "status")
        var rules = DiskOperations.Rules()
        rules.calls = try fields.choices("calls", of: DiskChange.Call.self) ?? rules.calls
        rules.folders = try fields.flag("folders") ?? rules.folders
        rules.polls = try fields.integer("polls", in: 0...1_000_000) ?? rules.polls
        rules.fails = try fields.choice("status", of: Status.self) == .failed
        model.operations.rules = rules
        return [
            "calls": .array(rules.calls.map(\.rawValue).sorted().map { .string($0) }), "folders": .bool(rules.folders),
            "polls": .integer(rules.polls),
            "status": rules.fails ? "failed" : "success",
        ]
    }

    /// A missing member gets its initial value.
    private mutating func setLinks() throws(ControlProblem) -> JSONValue {
        try fields.require(
            only: "lifetime_s",
            "upload_lifetime_s",
            "host",
            "stale_status",
            "redirects",
            "previews_need_token"
        )
        var settings = DiskLinks.Settings()
        settings.lifetime = try fields.integer("lifetime_s", in: 0...1_000_000_000) ?? settings.lifetime
        settings.uploadLifetime =
            try fields.integer("upload_lifetime_s", in: 0...1_000_000_000) ?? settings.uploadLifetime
        settings.staleStatus = try fields.integer("stale_status", in: 400...599) ?? settings.staleStatus
        settings.redirects = try fields.flag("redirects") ?? settings.redirects
        settings.previewsNeedToken = try fields.flag("previews_need_token") ?? settings.previewsNeedToken
        if let host = try fields.text("host") {
            guard LoopbackHost.matches(authority: host), !host.contains(":") else {
                throw .invalid(
                    field: "host",
                    value: host,
                    accepted: ["127.0.0.1", "localhost", "a name below localhost"]
                )
            }
            settings.host = host
        }
        model.links.settings = settings
        return [
            "lifetime_s": .integer(settings.lifetime), "upload_lifetime_s": .integer(settings.uploadLifetime),
            "host": .string(settings.host),
            "stale_status": .integer(settings.staleStatus), "redirects": .bool(settings.redirects),
            "previews_need_token": .bool(settings.previewsNeedToken),
        ]
    }

    private mutating func expireLinks() -> JSONValue {
        model.links.expireAll()
        let uploads = model.uploads.count
        model.uploads = [:]
        return ["uploads": .integer(uploads)]
    }

    private mutating func plan() throws(ControlProblem) -> JSONValue {
        try fields.require(only: "call", "error", "times")
        let call = try fields.required("call", try fields.text("call"))
        guard call.split(separator: " ").count == 2, call.contains(" /") else {
            throw .invalid(
                field: "call",
                value: call,
                accepted: ["a method and a path, such as PUT /resources/publish"]
            )
        }
        let code = try fields.required("error", try fields.text("error"))
        guard let failure = DiskFailure.named(code) else {
            throw .invalid(field: "error", value: code, accepted: DiskFailure.selectable.map(\.code))
        }
        let times = try fields.integer("times", in: 1...1_000_000) ?? 1
        model.planned.removeAll { $0.times == 0 }
        model.planned.append(PlannedFailure(call: call, failure: failure, times: times))
        return [
            "call": .string(call), "status": .integer(failure.status.code), "error": .string(code),
            "times": .integer(times),
        ]
    }
}

/// Changes of the simulated service for tests and demonstrations.
extension YandexDisk {
    func control(_ request: ControlRequest) throws(ControlProblem) -> UpstreamResponse {
        let call = request.path.joined(separator: "/")
        switch call {
        case "files", "folders", "quota", "operations", "links": try request.require(.put)
        case "remove", "move", "fill", "links/expire", "failures", "clock": try request.require(.post)
        default: throw .nothing(at: ["yandex_disk", call])
        }
        let fields = try ControlFields(call == "links/expire" ? [:] : try request.json())
        let made = try withModel { (model, now) throws(ControlProblem) in
            var change = DiskControl(model: model, fields: fields, now: now)
            // The model has one owner at a time, so that a large one is not copied.
            model = DiskModel(trees: [], links: model.links)
            defer { model = change.model }
            return try change.make(call)
        }
        guard call == "clock" else { return .json(.ok, made) }
        let seconds = try fields.integer("advance_s", in: 0...1_000_000_000) ?? 0
        let time = accounts.withState { state, now in
            state.ahead += seconds
            return now.addingTimeInterval(TimeInterval(seconds))
        }
        return .json(.ok, ["now": .string(DiskTime.text(time))])
    }
}

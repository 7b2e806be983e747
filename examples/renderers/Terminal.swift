// Draws any screen of Larder in a terminal, from its response alone: no text is its own.
import Foundation

/// Shows one app. Each line of the input is the number of something that is shown; an empty one, or an event (`~`),
/// requests the screen again, `*` shows all screens of the app.
@MainActor final class Terminal {
    private let app: String, larder: Larder
    /// Lines of the input; nil for an event.
    private let (inputs, input) = AsyncStream<String?>.makeStream()
    /// An event does not replace the response to a change, which may offer to undo it.
    private var current = "", isOpen = false, choices: [() async throws -> Void] = []

    init(_ app: String) {
        let arguments = CommandLine.arguments.dropFirst()
        guard let base = arguments.first else { end("URL [LANGUAGE]") }
        (self.app, larder) = (app, Larder(base, language: arguments.dropFirst().first ?? "en"))
        Thread.detachNewThread { [input] in
            while let line = readLine() { input.yield(line) }
            input.finish()
        }
    }

    /// Ends with one line if there is no server, or one of another kind.
    func run() async {
        do { try await follow() } catch { end("\(larder.base): \(error.localizedDescription)") }
    }

    private func follow() async throws {
        try await open("/v1/\(app)/launch")
        say("> ", end: "")
        while let next = await next() {
            if next == "*" {
                for href in try await larder.screens(of: app) { try await open(href) }
            } else if let number = next.flatMap({ Int($0) }), choices.indices.contains(number - 1) {
                try await choices[number - 1]()
            } else if next != nil || isOpen {
                try await open(current)
            }
            say(next == nil ? "~ " : "> ", end: "")
        }
    }

    private func next() async -> String?? {
        var iterator = inputs.makeAsyncIterator()
        return await iterator.next(isolation: MainActor.shared)
    }

    private func say(_ text: String, end: String = "\n") {
        FileHandle.standardOutput.write(Data((text + end).utf8))
    }

    private func ask(_ prompt: String) async -> String {
        say(prompt, end: "")
        while let next = await next() { if let line = next { return line } }
        return ""
    }

    private func open(_ href: String) async throws {
        try await show(larder.send("GET", href), at: href)
    }

    /// Shows a response, or the screen to which it leads.
    private func show(_ response: (screen: Screen?, length: Int), at href: String? = nil) async throws {
        guard let screen = response.screen else { return say("\(response.length)") }
        let (data, route) = (screen.data ?? .null, screen.data?["route"] ?? .null)
        if data["token"].text != nil { try larder.listen(to: app) { [input] in input.yield(nil) } }
        let leads = route["method"].text == "GET" && href?.hasSuffix("/launch") != false
        if leads, let next = route["href"].text { return try await open(next) }
        if href == nil, route != .null, data.members["alert"] == nil { return try await open("/v1/\(app)/launch") }
        (current, isOpen, choices) = (href ?? screen.links?.`self` ?? current, href != nil, [])
        guard let meta = screen.meta else { return show(problem: screen) }
        say("\n== \(meta.title) ==")
        for text in Set([meta.banner?.text, meta.freshnessText].compactMap { $0 }) { say("! \(text)") }
        for tab in screen.links?.tabs ?? [] { offer(tab.title) { try await self.open(tab.href) } }
        if let search = screen.links?.search { offer(search) }
        show(data, meta.labels, "")
        for text in [data["empty"]["title"], data["empty"]["text"]] { if let text = text.text { say(text) } }
        if let action: Action = data["empty"]["action"].decoded() { offer(action) }
        if let next = screen.links?.next { offer("…") { try await self.open(next) } }
    }

    private func show(problem: Screen) {
        say("\n== \(problem.dialog?.title ?? "") ==\n\(problem.dialog?.message ?? "")")
        for error in problem.errors ?? [] { say(error.detail) }
        say((problem.dialog?.buttons ?? []).joined(separator: " / "))
        for action in problem.actions ?? [] { offer(action) }
    }

    /// Shows the labelled members of the content, a row or an object, its rows and its actions.
    private func show(_ thing: Value, _ labels: [Label], _ indent: String) {
        var known: Set<String> = []
        for label in labels.filter({ $0.kind == "name" }) + labels.filter({ $0.kind != "name" })
        where known.insert(label.member).inserted {
            show(thing[label.member], label, of: thing, labels, indent)
        }
        for row in thing["items"].list { show(row, labels, indent + "  ") }
        for (name, member) in thing.members.sorted(by: { $0.key < $1.key }) where name != "empty" {
            for action in member.list + [member] { if let action: Action = action.decoded() { offer(action, indent) } }
        }
    }

    private func show(_ value: Value, _ label: Label, of thing: Value, _ labels: [Label], _ indent: String) {
        let title = label.title.map { "\($0): " } ?? ""
        switch value {
        case .null, .text(""), .list([]), .flag(false): break
        case .flag(true): say(indent + (label.title ?? ""))
        case .number(let number): say("\(indent)\(title)\(Int(exactly: number).map { "\($0)" } ?? "\(number)")")
        case .text(let text) where label.kind == "name" && !indent.isEmpty && thing["href"].text != nil:
            offer(text, indent) { try await self.open(thing["href"].text ?? "") }
        case .text(let text): say(label.kind == "picture" ? "\(indent)<\(text)>" : "\(indent)\(title)\(text)")
        case .object, .list:
            if !title.isEmpty { say(indent + title) }
            if case .object = value { return show(value, labels, indent + "  ") }
            let untitled = Label(member: label.member, kind: label.kind, title: nil)
            for one in value.list { show(one, untitled, of: .null, labels, indent + "  ") }
        }
    }

    private func offer(_ title: String, _ indent: String = "", _ press: @escaping () async throws -> Void) {
        choices.append(press)
        say("\(indent)[\(choices.count)] \(title)")
    }

    private func offer(_ action: Action, _ indent: String = "") {
        guard action.enabled else { return say("\(indent)- \(action.title) (\(action.disabledReason ?? ""))") }
        offer(action.title, indent) { try await self.press(action) }
    }

    /// Asks what is to be asked, and sends the request.
    private func press(_ action: Action) async throws {
        if let confirm = action.confirm {
            let buttons = confirm.buttons.enumerated().map { "[\($0 + 1)] \($1)" }.joined(separator: " / ")
            guard await ask("\(confirm.message)\n\(buttons) ") == "1" else { return }
        }
        var values = action.body ?? [:]
        for field in action.fields ?? [] {
            let start = field.value ?? field.values?.joined(separator: ", ") ?? ""
            let typed = await ask(start.isEmpty ? "\(field.title): " : "\(field.title) (\(start)): ")
            let text = typed.isEmpty ? start : typed
            if !text.isEmpty || field.required { values[field.name] = field.value(of: text) }
        }
        if action.method == "GET" { return try await open(action.target(with: values)) }
        try await show(larder.send(action.method, action.href, values, action.headers ?? [:]))
    }
}

private func end(_ line: String) -> Never {
    FileHandle.standardError.write(Data((line + "\n").utf8))
    exit(1)
}

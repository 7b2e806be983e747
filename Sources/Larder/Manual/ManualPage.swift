/// The manual page of a command, in section 1, with the macros of man(7).
struct ManualPage {
    let command: CommandDescription
    let version: String

    /// The name of the page, such as `larder-cache-list`.
    var name: String { command.words.joined(separator: "-") }

    /// The page.
    var text: String {
        var lines = [".TH \"\(name.uppercased())\" 1 \"\" \"larder \(version)\" \"Larder\"", ".SH NAME"]
        let summary = command.abstract.map { $0.hasSuffix(".") ? String($0.dropLast()) : $0 } ?? ""
        lines += [Roff.escape("\(name) - \(summary)"), ".SH SYNOPSIS", synopsis]
        if let discussion = command.discussion, !discussion.isEmpty {
            let body = Roff.lines(of: discussion)
            lines += (body.first?.hasPrefix(".SH") == true ? [] : [".SH DESCRIPTION"]) + body
        }
        if !command.shown.isEmpty {
            lines.append(".SH COMMANDS")
            for child in command.shown {
                let page = Roff.escape(child.words.joined(separator: "-"))
                lines += [".TP", "\\fB\(page)\\fR(1)", Roff.escape(child.abstract ?? "")]
            }
        }
        lines += options
        if let parent = command.superCommands, !parent.isEmpty {
            lines += [".SH SEE ALSO", "\\fB\(Roff.escape(parent.joined(separator: "-")))\\fR(1)"]
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private var arguments: [CommandDescription.Argument] { (command.arguments ?? []).filter(\.shouldDisplay) }

    private var synopsis: String {
        let words = "\\fB\(Roff.escape(command.words.joined(separator: " ")))\\fR"
        let parts = arguments.filter { !Self.isCommon($0) }.map { argument in
            let spelling = Self.spelling(argument)
            return argument.isOptional ? "[\(spelling)]" : spelling
        }
        return ([words] + (command.shown.isEmpty ? [] : ["\\fIcommand\\fR"]) + parts).joined(separator: " ")
    }

    private var options: [String] {
        [".SH OPTIONS"]
            + arguments.flatMap { argument in
                let standard = argument.defaultValue.map { " The default is \($0)." } ?? ""
                return [".TP", Self.spelling(argument), Roff.escape((argument.abstract ?? "") + standard)]
            }
    }

    private static func isCommon(_ argument: CommandDescription.Argument) -> Bool {
        argument.names?.contains { ["help", "version"].contains($0.name) } ?? false
    }

    private static func spelling(_ argument: CommandDescription.Argument) -> String {
        let value = "\\fI\(Roff.escape(argument.valueName ?? "value"))\\fR"
        guard let names = argument.names else { return "\(value) ..." }
        let spelled = names.map { "\\fB\(Roff.escape(($0.kind == "short" ? "-" : "--") + $0.name))\\fR" }
        return spelled.joined(separator: ", ") + (argument.kind == "option" ? " \(value)" : "")
    }
}

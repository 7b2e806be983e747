import CQPDF
import Foundation

/// Draws the fields of a form that readers would draw themselves. These are the fields without an appearance, and all
/// fields of a form that declares its appearances outdated (ISO 32000-1 12.7.2 `NeedAppearances`). A document keeps no
/// fields, only their appearances.
struct FormFields {
    typealias Object = PDFFile.Object

    /// Largest number of characters of a field that are drawn.
    private static let maximumText = 8192
    /// Flags of fields (ISO 32000-1 tables 226 to 230).
    private enum Flag {
        static let multiline = 1 << 12
        static let password = 1 << 13
        static let radio = 1 << 15
        static let push = 1 << 16
        static let combo = 1 << 17
        static let comb = 1 << 24
    }

    private let file: PDFFile
    private let form: Object
    private let isOutdated: Bool
    private var handle: qpdf_data? { file.handle }

    /// Returns nil for a document without a form.
    init?(_ file: PDFFile) {
        self.file = file
        form = qpdf_oh_get_key(file.handle, qpdf_get_root(file.handle), "/AcroForm")
        guard qpdf_oh_is_dictionary(file.handle, form) != 0 else { return nil }
        isOutdated = file.with("/NeedAppearances", of: form) {
            qpdf_oh_is_bool(file.handle, $0) != 0 && qpdf_oh_get_bool_value(file.handle, $0) != 0
        }
    }

    /// Draws the fields and replaces their appearances.
    ///
    /// - Parameter path: The file for the drawings.
    /// - Returns: Whether any appearance has changed; the drawing, which must exist until the document is written.
    func draw(to path: String) throws -> (isChanged: Bool, drawing: PDFFile?) {
        var isChanged = false
        var drawn: [(widget: Object, look: FieldLook)] = []
        for index in 0..<(try file.pageCount()) {
            let page = try file.page(index)
            defer { file.release(page) }
            file.with("/Annots", of: page) { annotations in
                file.forEachItem(of: annotations) { widget in
                    guard qpdf_oh_is_dictionary(handle, widget) != 0, file.name("/Subtype", of: widget) == "/Widget"
                    else { return }
                    if updateState(of: widget) { isChanged = true }
                    guard let look = look(of: widget) else { return }
                    drawn.append((qpdf_oh_new_object(handle, widget), look))
                }
            }
            try file.check()
        }
        guard !drawn.isEmpty else { return (isChanged, nil) }
        try FieldCanvas.draw(drawn.map(\.look), to: path)
        let drawing = try PDFFile(reading: path, maximumPages: drawn.count)
        for (index, field) in drawn.enumerated() { try set(field.look, of: field.widget, to: index, of: drawing) }
        return (true, drawing)
    }

    /// Sets the state of a button to the value of its field.
    ///
    /// - Returns: whether the state has changed.
    private func updateState(of widget: Object) -> Bool {
        guard text(attribute("/FT", of: widget)) == "Btn", flags(of: widget) & Flag.push == 0 else { return false }
        return file.with("/AP", of: widget) { appearances in
            guard qpdf_oh_is_dictionary(handle, appearances) != 0 else { return false }
            return file.with("/N", of: appearances) { states in
                guard qpdf_oh_is_dictionary(handle, states) != 0 else { return false }
                let state = file.name("/AS", of: widget)
                guard isOutdated || state == nil else { return false }
                var value = file.name(attribute("/V", of: widget)) ?? "/Off"
                if qpdf_oh_has_key(handle, states, value.bytes) == 0 { value = "/Off" }
                qpdf_oh_replace_key(handle, widget, "/AS", qpdf_oh_new_name(handle, value.bytes))
                return (state ?? "/Off") != value
            }
        }
    }

    /// Makes a page of the drawing the appearance of a field.
    private func set(_ look: FieldLook, of widget: Object, to index: Int, of drawing: PDFFile) throws {
        let page = try drawing.page(index)
        let content = try drawing.with("/Contents", of: page) {
            try drawing.data(of: $0, decodeLevel: qpdf_dl_generalized) ?? Data()
        }
        let resources = qpdf_make_indirect_object(drawing.handle, qpdf_oh_get_key(drawing.handle, page, "/Resources"))
        try drawing.check()
        let form = qpdf_oh_new_stream(handle)
        try file.replaceData(of: form, by: content, filter: qpdf_oh_new_null(handle), parameters: nil)
        let dictionary = qpdf_oh_get_dict(handle, form)
        let turn = [90: "0 1 -1 0", 180: "-1 0 0 -1", 270: "0 -1 1 0"][rotation(of: widget)] ?? "1 0 0 1"
        let box = "[0 0 \(look.width) \(look.height)]"
        try file.add("/Type /XObject /Subtype /Form /BBox \(box) /Matrix [\(turn) 0 0]", to: dictionary)
        let copy = qpdf_oh_copy_foreign_object(handle, drawing.handle, resources)
        qpdf_oh_replace_key(handle, dictionary, "/Resources", copy)
        let appearances = qpdf_oh_new_dictionary(handle)
        qpdf_oh_replace_key(handle, appearances, "/N", form)
        qpdf_oh_replace_key(handle, widget, "/AP", appearances)
        qpdf_oh_remove_key(handle, widget, "/AS")
        try drawing.check()
        try file.check()
    }
}

extension FormFields {
    /// Returns the look of a field that has to be drawn; nil if its appearance is up to date.
    private func look(of widget: Object) -> FieldLook? {
        let type = text(attribute("/FT", of: widget))
        let isText = type == "Tx" || type == "Ch"
        guard isText || type == "Btn", isOutdated && isText || !hasAppearance(widget) else { return nil }
        guard let box = file.with("/Rect", of: widget, { file.numbers($0, count: 4) }) else { return nil }
        var look = FieldLook(width: abs(box[2] - box[0]), height: abs(box[3] - box[1]))
        guard (1...14_400).contains(look.width), (1...14_400).contains(look.height) else { return nil }
        if rotation(of: widget) % 180 != 0 { swap(&look.width, &look.height) }
        file.with("/MK", of: widget) { marks in
            guard qpdf_oh_is_dictionary(handle, marks) != 0 else { return }
            look.background = file.with("/BG", of: marks) { components($0) }
            look.border = file.with("/BC", of: marks) { components($0) }
        }
        file.with("/BS", of: widget) { style in
            guard qpdf_oh_is_dictionary(handle, style) != 0 else { return }
            look.borderWidth = file.with("/W", of: style) { number($0) } ?? 1
        }
        look.style(by: text(attribute("/DA", of: widget, inForm: true)) ?? "")
        look.alignment =
            number(attribute("/Q", of: widget, inForm: true)).flatMap {
                FieldLook.Alignment(rawValue: Int($0))
            } ?? .left
        switch type {
        case "Tx": addText(to: &look, widget)
        case "Ch": addChoice(to: &look, widget)
        default: addMark(to: &look, widget)
        }
        return look
    }

    private func addText(to look: inout FieldLook, _ widget: Object) {
        let flags = flags(of: widget)
        var value = String(PlainText.cleaned(text(attribute("/V", of: widget)) ?? "").prefix(Self.maximumText))
        if flags & Flag.password != 0 { value = String(repeating: "*", count: value.count) }
        look.isMultiline = flags & Flag.multiline != 0
        if !look.isMultiline { value = value.split(whereSeparator: \.isNewline).joined(separator: " ") }
        if flags & Flag.comb != 0, let cells = number(attribute("/MaxLen", of: widget)), (1...500).contains(cells) {
            look.cells = Int(cells)
        }
        look.lines = [FieldLook.Line(text: value)]
    }

    /// If options have a value and a text, the text is shown.
    private func addChoice(to look: inout FieldLook, _ widget: Object) {
        var options: [(value: String, text: String)] = []
        file.forEachItem(of: attribute("/Opt", of: widget)) { option in
            var texts: [String] = []
            file.forEachItem(of: option) { texts.append(text($0) ?? "") }
            let single = text(option) ?? ""
            options.append((texts.first ?? single, texts.last ?? single))
        }
        let value = attribute("/V", of: widget)
        var chosen = text(value).map { [$0] } ?? []
        file.forEachItem(of: value) { chosen.append(text($0) ?? "") }
        guard flags(of: widget) & Flag.combo == 0 else {
            let shown = chosen.first.map { value in options.first { $0.value == value }?.text ?? value }
            look.lines = [FieldLook.Line(text: shown ?? "")]
            return
        }
        let selected = options.firstIndex { chosen.contains($0.value) } ?? 0
        let visible = max(1, Int(look.height / FieldCanvas.ordinary) - 1)
        let top = number(attribute("/TI", of: widget)).map { Int($0) } ?? max(0, selected + 1 - visible)
        let first = max(0, min(options.count, top))
        look.lines = options[first...].prefix(1000).map {
            FieldLook.Line(text: $0.text, isSelected: chosen.contains($0.value))
        }
    }

    private func addMark(to look: inout FieldLook, _ widget: Object) {
        let caption = file.with("/MK", of: widget) { marks in
            qpdf_oh_is_dictionary(handle, marks) != 0 ? file.with("/CA", of: marks) { text($0) } : nil
        }
        look.alignment = .center
        guard flags(of: widget) & Flag.push == 0 else {
            look.lines = [FieldLook.Line(text: caption ?? "")]
            return
        }
        let isRadio = flags(of: widget) & Flag.radio != 0
        let state = file.name("/AS", of: widget) ?? (isRadio ? nil : file.name(attribute("/V", of: widget)))
        if let state, state != "/Off" { look.lines = [FieldLook.Line(text: FieldLook.mark(caption, isRadio: isRadio))] }
    }

    private func hasAppearance(_ widget: Object) -> Bool {
        file.with("/AP", of: widget) { appearances in
            guard qpdf_oh_is_dictionary(handle, appearances) != 0 else { return false }
            return file.with("/N", of: appearances) { normal in
                guard qpdf_oh_is_dictionary(handle, normal) != 0 else { return qpdf_oh_is_stream(handle, normal) != 0 }
                return file.keys(of: normal).contains { state in
                    file.with(state, of: normal) { qpdf_oh_is_stream(handle, $0) != 0 }
                }
            }
        }
    }

    private func flags(of widget: Object) -> Int { number(attribute("/Ff", of: widget)).map { Int($0) } ?? 0 }

    private func rotation(of widget: Object) -> Int {
        file.with("/MK", of: widget) { marks in
            guard qpdf_oh_is_dictionary(handle, marks) != 0 else { return 0 }
            return PageGeometry.normalized(file.with("/R", of: marks) { number($0) }.map { Int($0) } ?? 0)
        }
    }

    /// Returns an attribute of a field, which may be inherited from a field above it or from the form; null if there is
    /// none.
    private func attribute(_ key: PDFName, of widget: Object, inForm: Bool = false) -> Object {
        let value = file.inherited(key, of: widget)
        return inForm && qpdf_oh_is_null(handle, value) != 0 ? qpdf_oh_get_key(handle, form, key.bytes) : value
    }

    /// Returns the text of a string, or a name without its slash.
    private func text(_ value: Object) -> String? {
        if let name = file.name(value) { return String(name.text.dropFirst()) }
        guard qpdf_oh_is_string(handle, value) != 0 else { return nil }
        return qpdf_oh_get_utf8_value(handle, value).map { String(cString: $0) }
    }

    private func number(_ value: Object) -> Double? {
        guard qpdf_oh_is_number(handle, value) != 0 else { return nil }
        let number = qpdf_oh_get_numeric_value(handle, value)
        return abs(number) < 1e9 ? number : nil
    }

    /// Returns the components of a colour; nil for none.
    private func components(_ array: Object) -> [Double]? {
        [1, 3, 4].lazy.compactMap { file.numbers(array, count: $0) }.first
    }
}

import CQPDF
import CQPDFCheck

/// Reduces resources to those that content uses (ISO 32000-1 7.8.3), so that a page is copied without the pictures of
/// other pages. Many programs give all pages one dictionary, which names the pictures and fonts of the whole document.
///
/// Everything that has content and resources of its own is reduced as well: forms, appearances of annotations,
/// patterns, and fonts whose glyphs are drawings. Shared dictionaries are not changed; each user gets its own.
final class UsedResources {
    typealias Object = PDFFile.Object

    /// A resource that content names.
    struct Use: Hashable {
        let category: PDFName
        let name: PDFName
    }

    /// Largest depth of nested forms, masks and patterns. It exceeds the limits of viewers.
    private static let maximumDepth = 400
    /// Categories without which a part of the page is missing.
    private static let drawn: Set<PDFName> = ["/XObject", "/Font", "/Pattern"]
    /// Colour spaces that replace those of devices (ISO 32000-1 8.6.5.6).
    private static let defaults = ["/DefaultGray", "/DefaultRGB", "/DefaultCMYK"].map {
        Use(category: "/ColorSpace", name: PDFName($0))
    }

    private let file: PDFFile
    /// Resources that an object with content uses and does not have, by its number. Readers look them up in the
    /// resources of the content that draws the object.
    private var missing: [Int32: Set<Use>] = [:]
    /// Resources that lack an XObject, such as a form, that content uses; before and after the reduction. The
    /// specification requires that there are none.
    private var incomplete: [(resources: Object, reduced: Object)] = []
    private var depth = 0

    private var handle: qpdf_data? { file.handle }

    init(_ file: PDFFile) {
        self.file = file
    }

    /// Reduces the resources of a page, and of all that it draws.
    ///
    /// - Throws: ``JobError`` `damaged` if a picture, form, font or pattern is missing, or if content cannot be read.
    func reduce(_ page: Object) throws {
        var content: [UInt8] = []
        try file.with("/Contents", of: page) { contents in
            try file.forEachItem(of: contents) { content += try data(of: $0) + [0x0A] }
            content += try data(of: contents)
        }
        var uses = try uses(in: content).union(groupColors(of: page))
        try file.with("/Annots", of: page) { annotations in
            try file.forEachItem(of: annotations) { uses.formUnion(try usesOfAppearances(of: $0)) }
        }
        try fill(try reduceResources(of: page, to: uses).filter { Self.drawn.contains($0.category) })
    }

    /// Adds resources that the page lacks to the reduced resources of its forms. A form that another form draws may use
    /// the resources of the latter.
    private func fill(_ missing: Set<Use>) throws {
        var (open, seen) = (Array(missing), missing)
        while let use = open.popLast() {
            for (resources, reduced) in incomplete {
                let more = try file.with(use.category, of: resources) { try copy(use, from: $0, to: reduced) }
                open += more?.subtracting(seen) ?? []
                seen.formUnion(more ?? [])
            }
        }
    }

    /// Returns the resources that the appearances of an annotation use and do not have. An appearance may be a
    /// dictionary with one for each state.
    private func usesOfAppearances(of annotation: Object) throws -> Set<Use> {
        var uses: Set<Use> = []
        try file.with("/AP", of: annotation) { appearances in
            for key in try entries(of: appearances) {
                try file.with(key, of: appearances) { appearance in
                    uses.formUnion(try usesLeft(by: appearance))
                    for state in try entries(of: appearance) {
                        try file.with(state, of: appearance) { uses.formUnion(try usesLeft(by: $0)) }
                    }
                }
            }
        }
        return uses
    }

    /// Returns the keys of a dictionary; none for other objects.
    private func entries(of object: Object) throws -> [PDFName] {
        qpdf_oh_is_dictionary(handle, object) != 0 ? file.keys(of: object) : []
    }
}

extension UsedResources {
    /// Replaces the resources of an object by those that it uses.
    ///
    /// - Returns: The uses for which it has no resources.
    private func reduceResources(of owner: Object, to uses: Set<Use>) throws -> Set<Use> {
        try file.with("/Resources", of: owner) { resources in
            try requirePresent(resources)
            guard qpdf_oh_is_dictionary(handle, resources) != 0 else { return uses }
            let reduced = qpdf_oh_new_dictionary(handle)
            defer { file.release(reduced) }
            file.with("/ProcSet", of: resources) { qpdf_oh_replace_key(handle, reduced, "/ProcSet", $0) }
            var (open, seen, missing) = (Array(uses) + Self.defaults, uses.union(Self.defaults), Set<Use>())
            while let use = open.popLast() {
                let more = try file.with(use.category, of: resources) { try copy(use, from: $0, to: reduced) }
                guard let more else {
                    missing.insert(use)
                    continue
                }
                open += more.subtracting(seen)
                seen.formUnion(more)
            }
            qpdf_oh_replace_key(handle, owner, "/Resources", reduced)
            try file.check()
            if missing.contains(where: { $0.category == "/XObject" }) {
                incomplete.append((qpdf_oh_new_object(handle, resources), qpdf_oh_new_object(handle, reduced)))
            }
            return missing
        }
    }

    /// Copies a resource.
    ///
    /// - Returns: The uses that the copied resource leaves to these resources; nil if there is no such resource.
    private func copy(_ use: Use, from resources: Object, to reduced: Object) throws -> Set<Use>? {
        if Self.drawn.contains(use.category) { try requirePresent(resources) }
        guard qpdf_oh_is_dictionary(handle, resources) != 0 else { return nil }
        return try file.with(use.name, of: resources) { resource in
            if Self.drawn.contains(use.category) { try requirePresent(resource) }
            guard qpdf_oh_is_null(handle, resource) == 0 else { return nil }
            if qpdf_oh_has_key(handle, reduced, use.category.bytes) == 0 {
                let category = qpdf_oh_new_dictionary(handle)
                qpdf_oh_replace_key(handle, reduced, use.category.bytes, category)
                file.release(category)
            }
            file.with(use.category, of: reduced) { qpdf_oh_replace_key(handle, $0, use.name.bytes, resource) }
            try file.check()
            return try usesLeft(by: resource)
        }
    }

    private func requirePresent(_ object: Object) throws {
        if file.isLost(object) { throw JobError.damaged("a picture, form, font or pattern is missing or unreadable") }
    }

    /// Reduces a resource that has content of its own.
    ///
    /// - Returns: The uses for which readers look in the resources of the content that names the resource.
    private func usesLeft(by resource: Object) throws -> Set<Use> {
        let number = qpdf_oh_get_object_id(handle, resource)
        if number != 0 {
            if let known = missing[number] { return known }
            // A form may draw itself.
            missing[number] = []
        }
        guard depth < Self.maximumDepth else { throw JobError.damaged("forms draw each other without end") }
        depth += 1
        defer { depth -= 1 }
        let uses = try usesOf(resource)
        if number != 0 { missing[number] = uses }
        return uses
    }

    private func usesOf(_ resource: Object) throws -> Set<Use> {
        if qpdf_oh_is_stream(handle, resource) != 0 {
            let dictionary = qpdf_oh_get_dict(handle, resource)
            defer { file.release(dictionary) }
            // Others are pictures and shadings. Appearances are drawn even if they are not marked as forms.
            let isContent =
                file.name("/Subtype", of: dictionary) != "/Image"
                && qpdf_oh_has_key(handle, dictionary, "/ShadingType") == 0
            guard isContent else { return file.with("/ColorSpace", of: dictionary) { colors(in: $0) } }
            let uses = try uses(in: try data(of: resource)).union(groupColors(of: dictionary))
            return try reduceResources(of: dictionary, to: uses)
        }
        guard qpdf_oh_is_dictionary(handle, resource) != 0 else { return colors(in: resource) }
        if file.name("/Subtype", of: resource) == "/Type3" { return try usesOfGlyphs(of: resource) }
        // A graphics state with a mask or a font, a shading, or a pattern with a shading.
        var uses = file.with("/ColorSpace", of: resource) { colors(in: $0) }
        for key: PDFName in ["/ExtGState", "/Shading", "/SMask", "/G"] {
            try file.with(key, of: resource) { part in
                if key != "/G" || qpdf_oh_is_stream(handle, part) != 0 { uses.formUnion(try usesLeft(by: part)) }
            }
        }
        try file.with("/Font", of: resource) { font in
            try file.forEachItem(of: font) { uses.formUnion(try usesLeft(by: $0)) }
        }
        return uses
    }

    private func usesOfGlyphs(of font: Object) throws -> Set<Use> {
        var uses: Set<Use> = []
        try file.with("/CharProcs", of: font) { glyphs in
            for name in try entries(of: glyphs) {
                try file.with(name, of: glyphs) { uses.formUnion(try self.uses(in: try data(of: $0))) }
            }
        }
        return try reduceResources(of: font, to: uses)
    }

    private func groupColors(of owner: Object) -> Set<Use> {
        file.with("/Group", of: owner) { group in
            guard qpdf_oh_is_dictionary(handle, group) != 0 else { return [] }
            return file.with("/CS", of: group) { colors(in: $0) }
        }
    }

    /// Returns the resources that a colour space may name: itself, or the one on which it is based.
    private func colors(in space: Object) -> Set<Use> {
        var names = [file.name(space)]
        file.forEachItem(of: space) { names.append(file.name($0)) }
        return Set(names.compactMap { $0 }.map { Use(category: "/ColorSpace", name: $0) })
    }

    /// Returns the data of a content stream without its filters; nothing for other objects.
    private func data(of content: Object) throws -> [UInt8] {
        guard qpdf_oh_is_stream(handle, content) != 0 else { return [] }
        return try file.data(of: content, decodeLevel: qpdf_dl_specialized).map(Array.init) ?? []
    }

    /// Returns the resources that operators of the content name.
    private func uses(in content: [UInt8]) throws -> Set<Use> {
        final class Found { var uses: Set<Use> = [] }
        let found = Found()
        let result = larder_qpdf_used_resources(
            content,
            content.count,
            { context, category, name in
                guard let context, let category, let name else { return }
                Unmanaged<Found>.fromOpaque(context).takeUnretainedValue().uses.insert(
                    Use(category: PDFName(category), name: PDFName(name))
                )
            },
            Unmanaged.passUnretained(found).toOpaque()
        )
        guard Int(result) != LARDER_QPDF_OUT_OF_MEMORY else { throw JobError.outOfMemory() }
        return found.uses
    }
}

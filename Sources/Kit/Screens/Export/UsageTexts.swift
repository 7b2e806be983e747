// How much is stored, and how much may be.
extension Text {
    /// `812 bytes`, `48 KB`, `1.5 MB`: powers of 1000, as file managers of phones count.
    package static func size(_ bytes: Int) -> Text {
        if bytes == 1 { return Text("1 byte", ru: "1 байт") }
        if bytes < 1000 { return Text("\(bytes) bytes", ru: "\(bytes) байт") }
        let units = [(1000, "KB", "КБ"), (1_000_000, "MB", "МБ"), (1_000_000_000, "GB", "ГБ")]
        let (unit, name, russian) = units.first { bytes < $0.0 * 1000 } ?? units[2]
        let tenths = (bytes / unit) * 10 + (bytes % unit * 10 + unit / 2) / unit
        guard tenths < 100, tenths % 10 != 0 else {
            return Text("\((tenths + 5) / 10) \(name)", ru: "\((tenths + 5) / 10) \(russian)")
        }
        let (whole, tenth) = (tenths / 10, tenths % 10)
        return Text("\(whole).\(tenth) \(name)", ru: "\(whole),\(tenth) \(russian)")
    }

    static let quotaIsUsedUp = Text("No space left", ru: "Место закончилось")
    static let notSavedYet = Text("Not saved yet", ru: "Ещё не сохранено")

    /// Says whose limit it is, and what makes room.
    ///
    /// - Parameter added: bytes of what is refused; nil if they are not known yet.
    static func quotaExceeded(_ quota: StorageQuota, _ usage: StorageUsage, added: Int?) -> Text {
        let (most, stored) = (size(quota.bytes), size(usage.bytes))
        let isAccount = quota.owner == .account
        let (owner, russian) = isAccount ? ("account", "учётной записи") : ("profile", "профилю")
        var text = Text(
            "This \(owner) may store \(most.english) here and has \(stored.english), so nothing was changed",
            ru: "\(isAccount ? "Этой" : "Этому") \(russian) здесь отведено \(most.russian), "
                + "занято \(stored.russian); ничего не изменено"
        )
        if let more = added.map(size) {
            text = text + Text("; \(more.english) more were needed", ru: ", нужно ещё \(more.russian)")
        }
        text = text + Text(". The server's disk is not the limit.", ru: ". Дело не в диске сервера.")
        if usage.trash > 0 {
            let trash = size(usage.trash)
            text =
                text
                + Text(
                    " \(trash.english) of it are in the trash, which can be emptied.",
                    ru: " Из них \(trash.russian) — в корзине, её можно очистить."
                )
        }
        guard let drafts = usage.drafts, drafts > 0 else { return text }
        return text
            + Text(
                " \(size(drafts).english) of it are not saved yet.",
                ru: " Из них \(size(drafts).russian) ещё не сохранено."
            )
    }
}

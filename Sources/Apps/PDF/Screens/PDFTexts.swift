import Screens

// The texts of the PDF app. The original app is in English.
extension Text {
    static let documents = Text("Documents", ru: "Документы")
    static let merge = Text("Merge", ru: "Объединить")
    static let addPhotos = Text("Add photos", ru: "Добавить фото")
    static let addTextPages = Text("Add text", ru: "Добавить текст")
    static let firstDocument = Text("First document", ru: "Первый документ")
    static let secondDocument = Text("Second document", ru: "Второй документ")
    static let files = Text("Photos or PDFs", ru: "Фото или PDF")
    static let language = Text("Language", ru: "Язык")
    static let atPage = Text("Before page", ru: "Перед страницей")
    static let rotate = Text("Rotate", ru: "Повернуть")
    static func documentsForm(_ most: Int) -> Text {
        Text(
            "Choose 2 to \(most) documents, each once.",
            ru: "Нужно от 2 до \(most) документов, каждый один раз."
        )
    }
    /// Why something cannot be done now.
    static let nothingToMerge = Text("Merging needs two saved documents.", ru: "Нужны два сохранённых документа.")
    static let nothingToReorder = Text("The document has one page.", ru: "В документе одна страница.")
    static let isSaved = Text("The document is saved.", ru: "Документ сохранён.")
    static let reorderPages = Text("Reorder pages", ru: "Переставить страницы")
    static let deletePages = Text("Delete pages", ru: "Удалить страницы")
    static let extractPages = Text("Extract pages", ru: "Извлечь страницы")
    static let noDocuments = Text("No documents yet", ru: "Документов пока нет")
    static let noDocumentsHint = Text(
        "Make a document of your photos and save it; it will appear here.",
        ru: "Создайте документ из фотографий и сохраните — он появится здесь."
    )
    static let noDrafts = Text("No drafts", ru: "Черновиков нет")
    static let noDraftsHint = Text(
        "A new document is a draft until you save it.",
        ru: "Новый документ остаётся черновиком, пока вы его не сохраните."
    )
    static let newDocument = Text("New document", ru: "Новый документ")
    static let nothingFound = Text("Nothing found", ru: "Ничего не найдено")
    static let nothingFoundHint = Text(
        "No saved document has a name with these words.",
        ru: "Нет сохранённых документов с такими словами в названии."
    )
    static let showAll = Text("Show all", ru: "Показать все")
    static let draft = Text("Not saved", ru: "Не сохранён")
    static let saved = Text("Saved", ru: "Сохранён")
    static let lastPage = Text("The last page cannot be deleted", ru: "Последнюю страницу нельзя удалить")
    static let nothingToUndo = Text("There is nothing to undo", ru: "Отменять нечего")
    static let notSaved = Text("The document is not saved yet", ru: "Документ ещё не сохранён")

    static let documentTrashHint = Text(
        "Saved documents that you delete stay here for a while.",
        ru: "Удалённые документы некоторое время хранятся здесь."
    )

    static func confirmDeletion(of name: String) -> Text {
        Text("Delete “\(name)”?", ru: "Удалить «\(name)»?")
    }

    static func confirmDiscarding(_ name: String) -> Text {
        Text("Delete “\(name)”? This cannot be undone.", ru: "Удалить «\(name)»? Отменить это нельзя.")
    }

    /// The beginning of the name of a new document.
    static let documentName = Text("Document", ru: "Документ")
    static let confirmPageDeletion = Text("Delete this page?", ru: "Удалить эту страницу?")
    static let confirmPageErasure = Text(
        "Delete this page? This cannot be undone.",
        ru: "Удалить эту страницу? Отменить это нельзя."
    )

    static let noDocument = Text("There is no such document.", ru: "Такого документа нет.")
}

// The welcome.
extension Text {
    static let photosToPDF = Text("Photos to PDF", ru: "Фото в PDF")
    static let staysHere = Text(
        "Everything stays on this server; nothing is sent anywhere.",
        ru: "Всё остаётся на этом сервере и никуда не отправляется."
    )
    static let getStarted = Text("Get started", ru: "Начать")
    static let welcomeCreate = Text("Photos become documents", ru: "Фотографии становятся документами")
    static let welcomeCreateHint = Text(
        "Pick photos from the gallery or from files: one document of all of them, or one each.",
        ru: "Выберите фото из галереи или файлов: один документ из всех или по одному из каждого."
    )
    static let welcomeRead = Text("Read and share", ru: "Читайте и делитесь")
    static let welcomeReadHint = Text(
        "Look through the pages and share the PDF, also before you save it.",
        ru: "Листайте страницы и делитесь PDF ещё до сохранения."
    )
    static let welcomeEdit = Text("Edit pages", ru: "Правьте страницы")
    static let welcomeEditHint = Text(
        "Delete, rotate, reorder or extract pages, and dictate text onto new ones.",
        ru: "Удаляйте, поворачивайте, переставляйте и извлекайте страницы, надиктовывайте текст на новые."
    )
    static let welcomeKeep = Text("Keep and merge", ru: "Храните и объединяйте")
    static let welcomeKeepHint = Text(
        "Save documents, rename them and merge two into a new one.",
        ru: "Сохраняйте документы, переименовывайте их и объединяйте два в новый."
    )
}

// Faults of a file, after its name.
extension Text {
    static let isDamaged = Text("is damaged or incomplete", ru: "— файл повреждён или неполон")
    static let isProtected = Text("is protected by a password", ru: "— файл защищён паролем")
    static let passwordOfFiles = Text("Password of the PDFs, if they have one", ru: "Пароль файлов PDF, если он есть")
    static let takesTooLong = Text("takes longer to process than a job may", ru: "— обработка слишком долгая")
    static let tooExpensive = Text(
        "needs more memory or disk than a job may use",
        ru: "— для обработки нужно слишком много памяти или места"
    )

    static func cannotBeUsed(_ accepted: String) -> Text {
        Text("cannot be used; accepted: \(accepted)", ru: "— не подходит; принимаются: \(accepted)")
    }

    static func isOfUnreadableKind(_ format: String) -> Text {
        Text(
            "is of a kind of \(format) that this server cannot read; the file is not damaged",
            ru: "— такой вид \(format) этот сервер не умеет читать; сам файл не повреждён"
        )
    }

    static func tooManyPages(_ most: Int) -> Text {
        Text("would have more than \(most) pages", ru: "— получится больше \(most) страниц")
    }

    static func moreMebibytes(_ most: Int) -> Text { Text("has more than \(most) MiB", ru: "— больше \(most) МиБ") }

    static func moreMegapixels(_ most: Int) -> Text {
        Text("has more than \(most) million pixels", ru: "— больше \(most) мегапикселей")
    }

    static func document(_ fault: Text) -> Text {
        Text("The document \(fault.english).", ru: "Документ \(fault.russian).")
    }

    static func otherType(_ title: String, _ accepted: String) -> Text {
        Text(
            "\(title) is none of the accepted types: \(accepted).",
            ru: "\(title) — неподходящий тип; принимаются: \(accepted)."
        )
    }
}

// Faults of a request, and notices.
extension Text {
    static let noFiles = Text("The form has no files; at least one is needed.", ru: "Выберите хотя бы один файл.")
    static let nothingVisible = Text("Enter a text that can be seen.", ru: "Введите текст, который видно.")
    static let languageForm = Text(
        "A language has a tag such as ru or zh-Hant.",
        ru: "Язык указывается кодом, например ru или zh-Hant."
    )
    static let numberOfPageForm = Text("Pages have whole numbers from 1 on.", ru: "Номер страницы — целое число от 1.")
    static let choosePages = Text("Choose at least one page.", ru: "Выберите хотя бы одну страницу.")
    static let pageIsGone = Text(
        "The document does not have this page any more.",
        ru: "Этой страницы в документе больше нет."
    )
    static let chooseDocuments = Text("Choose two documents.", ru: "Выберите два документа.")
    static let notWithItself = Text(
        "A document cannot be merged with itself.",
        ru: "Документ нельзя объединить с самим собой."
    )

    static func numberOfNewPage(upTo last: Int) -> Text {
        Text("A new page gets a number from 1 to \(last).", ru: "Номер новой страницы — от 1 до \(last).")
    }

    static let noGlyphs = Text(
        "No installed font has any character of the text.",
        ru: "Ни в одном установленном шрифте нет символов этого текста."
    )
    static let tooManyJobs = Text("Too many jobs are already waiting.", ru: "Слишком много задач уже в очереди.")
    static let mustNotBeEmpty = Text("must not be empty", ru: "не может быть пустым")
    static let mustNotBeDots = Text("must not be . or ..", ru: "не может быть . или ..")
    static let noSlash = Text("must not contain /", ru: "не может содержать /")
    static let noControlCharacters = Text(
        "must not contain control characters",
        ru: "не может содержать управляющие символы"
    )

    static func name(_ fault: Text) -> Text { Text("The name \(fault.english).", ru: "Название \(fault.russian).") }

    static func atMostBytes(_ most: Int) -> Text {
        Text("may have \(most) bytes at most", ru: "может занимать не больше \(most) байт")
    }

    static func firstPictureOnly(_ title: String) -> Text {
        Text(
            "\(title) has several pictures; the first one is a page.",
            ru: "В \(title) несколько изображений; страницей стало первое."
        )
    }

    static func restrictionsRemoved(_ title: String) -> Text {
        Text(
            "\(title) restricted printing, copying or changes by an owner password; this document does not.",
            ru: "В \(title) печать, копирование или изменения ограничены паролем владельца; в этом документе — нет."
        )
    }

    static func fieldsDrawn(_ title: String) -> Text {
        Text(
            "The fields of the form in \(title) were drawn from their values; they may look different.",
            ru: "Поля формы в \(title) нарисованы по их значениям и могут выглядеть иначе."
        )
    }

    static func bookmarksRemoved(_ title: String) -> Text {
        Text("\(title) has bookmarks; this document does not.", ru: "В \(title) есть закладки; в этом документе — нет.")
    }

    static func pageLabelsRemoved(_ title: String) -> Text {
        Text(
            "\(title) numbers its pages in its own way; in this document they count from 1.",
            ru: "В \(title) своя нумерация страниц; в этом документе они считаются с 1."
        )
    }

    static func linksRemoved(_ title: String) -> Text {
        Text(
            "\(title) has links within itself or to other files; in this document only web addresses are links.",
            ru: "В \(title) есть ссылки внутри файла или на другие файлы; здесь остались только ссылки на сайты."
        )
    }

    static func fieldsRemoved(_ title: String) -> Text {
        Text(
            "\(title) has a form; this document shows what is filled in, but cannot be filled in.",
            ru: "\(title) содержит форму; в этом документе видно, что заполнено, но заполнять её нельзя."
        )
    }

    static func multimediaRemoved(_ title: String) -> Text {
        Text(
            "\(title) has sounds, films or models on its pages; this document does not.",
            ru: "На страницах \(title) есть звук, видео или модели; в этом документе — нет."
        )
    }

    static func attachmentsRemoved(_ title: String) -> Text {
        Text(
            "\(title) has files attached; this document does not.",
            ru: "К \(title) приложены файлы; к этому документу — нет."
        )
    }

    static func signaturesRemoved(_ title: String) -> Text {
        Text(
            "\(title) has a digital signature; this document does not, though it may show one.",
            ru: "\(title) содержит цифровую подпись; этот документ — нет, хотя она может быть видна."
        )
    }
}

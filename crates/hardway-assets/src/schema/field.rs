//! One field of an input file.

/// A whole file.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// The file's name, for titles and messages.
    pub file: &'static str,
    /// What stands before a field's name in the explanations: nothing, or `inventory `.
    pub prefix: &'static str,
    /// The top-level fields.
    pub fields: &'static [Field],
}

/// One field: a row of a table.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// The key.
    pub name: &'static str,
    /// What its value must be.
    pub kind: FieldKind,
    /// Whether it may be left out.
    pub presence: Presence,
    /// What is used when it is left out, as text; empty if nothing is.
    pub default: &'static str,
    /// The only values allowed, if there are only some. Enforced where the typed value is made, because the wording
    /// differs from field to field; here for the exported schema and for people.
    pub allowed: &'static [&'static str],
    /// Whether its value must never be shown.
    pub secret: bool,
    /// The release that brought the field, as major and minor; nothing for fields older than 4.18.
    pub since: Option<(u64, u64)>,
}

/// What a value must be.
#[derive(Clone, Copy, Debug)]
pub enum FieldKind {
    /// Text.
    String,
    /// true or false.
    Bool,
    /// A whole number between two others, both included.
    Int(i64, i64),
    /// A network such as `10.0.0.0/16`.
    Cidr,
    /// An address.
    Ip,
    /// A list of one kind.
    List(&'static FieldKind),
    /// One value, or a list of them.
    OneOrMany(&'static FieldKind),
    /// A mapping with these keys.
    Object(&'static [Field]),
    /// A mapping whose content is somebody else's.
    AnyObject,
    /// Any value.
    Any,
}

/// Whether a field may be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It may.
    Optional,
    /// It may not; this is said if it is missing.
    Required(&'static str),
    /// It may not; which words are allowed is said if it is missing.
    RequiredWord,
    /// It may not, and a rule says so in words of its own.
    RequiredByRule,
    /// It must be: people write it, and a rule says what to write instead.
    RefusedByRule,
}

impl Field {
    /// An optional field.
    pub const fn new(name: &'static str, kind: FieldKind) -> Self {
        Self {
            name,
            kind,
            presence: Presence::Optional,
            default: "",
            allowed: &[],
            secret: false,
            since: None,
        }
    }

    /// The same, required, with what to say if it is missing.
    pub const fn required(mut self, detail: &'static str) -> Self {
        self.presence = Presence::Required(detail);
        self
    }

    /// The same, required, and one of these words.
    pub const fn one_of(mut self, values: &'static [&'static str]) -> Self {
        self.presence = Presence::RequiredWord;
        self.allowed(values)
    }

    /// The same, required by a rule that finds its own words.
    pub const fn required_by_rule(mut self) -> Self {
        self.presence = Presence::RequiredByRule;
        self
    }

    /// The same, refused by a rule that says what to write instead.
    pub const fn refused_by_rule(mut self) -> Self {
        self.presence = Presence::RefusedByRule;
        self
    }

    /// The same, with a default.
    pub const fn default(mut self, text: &'static str) -> Self {
        self.default = text;
        self
    }

    /// The same, with the values allowed.
    pub const fn allowed(mut self, values: &'static [&'static str]) -> Self {
        self.allowed = values;
        self
    }

    /// The same, never to be shown.
    pub const fn secret(mut self) -> Self {
        self.secret = true;
        self
    }

    /// The same, known from a release on.
    pub const fn since(mut self, major: u64, minor: u64) -> Self {
        self.since = Some((major, minor));
        self
    }

    /// The one of these fields that a key stands for. A name in angle brackets stands for every key: `<host>`.
    pub fn find(fields: &'static [Self], key: &str) -> Option<&'static Self> {
        fields.iter().find(|field| field.name == key || field.is_placeholder())
    }

    /// Whether its key is for the person to choose.
    pub fn is_placeholder(&self) -> bool {
        self.name.starts_with('<')
    }

    /// The fields below this one, looking through lists.
    pub fn children(&self) -> &'static [Field] {
        let mut kind = &self.kind;
        loop {
            match kind {
                FieldKind::List(inner) | FieldKind::OneOrMany(inner) => kind = inner,
                FieldKind::Object(fields) => return fields,
                _ => return &[],
            }
        }
    }
}

impl Table {
    /// Every field of the table with its path, parents before children: `networking.clusterNetwork.cidr`.
    pub fn paths(&self) -> Vec<(String, &'static Field)> {
        let mut paths = Vec::new();
        collect("", self.fields, &mut paths);
        paths
    }

    /// The field at a path.
    pub fn field(&self, path: &str) -> Option<&'static Field> {
        let mut fields = self.fields;
        let mut found = None;
        for step in path.split('.') {
            let field = fields.iter().find(|field| field.name == step)?;
            (fields, found) = (field.children(), Some(field));
        }
        found
    }

    /// The values allowed at a path.
    pub fn allowed(&self, path: &str) -> &'static [&'static str] {
        self.field(path).map_or(&[], |field| field.allowed)
    }

    /// What a field is taken for where the file says nothing, as text; empty if nothing is.
    pub fn default(&self, path: &str) -> &'static str {
        self.field(path).map_or("", |field| field.default)
    }
}

fn collect(prefix: &str, fields: &'static [Field], paths: &mut Vec<(String, &'static Field)>) {
    for field in fields {
        let path = if prefix.is_empty() { field.name.to_owned() } else { format!("{prefix}.{}", field.name) };
        paths.push((path.clone(), field));
        collect(&path, field.children(), paths);
    }
}
